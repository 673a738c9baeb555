// The line view: the words twice, those that look on one side, those looked at on the other; the stronger a line, the more weight.
'use strict';
{
    attn.words({
        en: {
            linesHelp: 'Point at a word to see its lines and numbers alone; click it to keep them, then point at a word on the other side; ' +
                'Escape lets go.',
            strongestLines: (n) => `The ${n} strongest lines are shown; point at a word to see all of its own.`,
        },
        'zh-Hans': {
            linesHelp: '指向一个词，只看它的连线和数值；点击固定后，可再指向另一侧的词；按 Esc 松开。',
            strongestLines: (n) => `只画出最强的 ${n} 条连线；指向一个词可看到它的全部连线。`,
        },
    });

    const {data} = attn;
    const PITCH = 32; // pixels from word to word
    const MIDDLE = 240; // width of the lines
    const MANY = 2000; // lines drawn when no word is pointed at
    const FAINT = 1 / 256; // a line below this part of the scale cannot be seen

    attn.Lines = class {
        constructor(panel) {
            this.panel = panel;
            this.matrix = panel.matrix;
            const {rows, columns} = this.matrix;
            this.targets = new Map(); // of the buttons
            this.left = rows.map((word, row) => this.word(word, {row, column: null}));
            this.right = columns.map((word, column) => this.word(word, {row: null, column}));
            this.height = Math.max(rows.length, columns.length) * PITCH;
            this.lines = attn.svg('g');
            this.svg = attn.svg('svg', {class: 'line-drawing', viewBox: `0 0 ${MIDDLE} ${this.height}`, height: this.height,
                preserveAspectRatio: 'none', 'aria-hidden': 'true'}, this.lines);
            this.note = attn.element('p', {class: 'quiet note'});
            const side = (name, title, words) => attn.element('div', {class: `side ${name}`},
                attn.element('div', {class: 'axis'}, attn.word(title)), attn.element('ul', {'aria-label': title}, words));
            this.element = attn.element('div', {class: 'line-view'},
                attn.element('div', {class: 'sides'}, side('left', attn.rowTitle, this.left), this.svg,
                    side('right', attn.columnTitle, this.right)), this.note);
            this.draw();
        }

        word(text, target) {
            const number = attn.element('span', {class: 'number'});
            const button = attn.element('button', {type: 'button', 'aria-pressed': 'false'}, attn.word(text));
            this.targets.set(button, target);
            button.addEventListener('focus', () => this.panel.over(target));
            button.addEventListener('click', () => this.panel.press(target));
            return attn.element('li', {}, button, number);
        }

        hit(event) {
            return this.targets.get(event.target.closest('button')) ?? null;
        }

        // While a word is locked, a word of the other side makes a pair with it.
        overLocked(target) {
            const {target: held} = this.panel;
            const side = held.row !== null ? 'row' : 'column';
            attn.tip.hide();
            if (target && target[side] === null) {
                const pair = {...target, [side]: held[side]};
                attn.tip.show(this.place(pair), attn.element('p', {class: 'sentence'}, this.matrix.sentenceOf(pair)),
                    attn.element('p', {class: 'quiet'}, this.matrix.detailOf(pair)));
            }
        }

        // The words that both ends of a target's lines reach: [row, column, part of the scale].
        pairs(target) {
            const {rows, columns} = this.matrix;
            const all = [];
            for (let row = 0; row < rows.length; row++) {
                for (let column = 0; column < columns.length; column++) {
                    const wanted = target === null || target.row === row || target.column === column;
                    const part = wanted && !this.matrix.kind(row, column) ? attn.colors.part(this.matrix.value(row, column)) : 0;
                    if (part >= FAINT) {
                        all.push([row, column, part]);
                    }
                }
            }
            return all;
        }

        line([row, column, part]) {
            const y = (i) => i * PITCH + PITCH / 2;
            const bend = MIDDLE / 2;
            const path = `M0 ${y(row)}C${bend} ${y(row)} ${bend} ${y(column)} ${MIDDLE} ${y(column)}`;
            return attn.svg('path', {d: path, 'stroke-opacity': part.toFixed(4), 'data-row': row, 'data-column': column});
        }

        draw() {
            this.light(null, false);
        }

        light(target, locked) {
            let pairs = this.pairs(target);
            const tooMany = target === null && pairs.length > MANY;
            if (tooMany) {
                pairs = pairs.sort((a, b) => b[2] - a[2]).slice(0, MANY);
            }
            this.note.textContent = tooMany ? attn.say('strongestLines', MANY) : '';
            this.lines.replaceChildren(...pairs.map((pair) => this.line(pair)));
            this.mark(this.left, 'row', target, locked);
            this.mark(this.right, 'column', target, locked);
        }

        // Words of one side: the one pointed at, or what each shares with the one pointed at on the other side.
        mark(items, side, target, locked) {
            const other = side === 'row' ? 'column' : 'row';
            items.forEach((item, i) => {
                const [button, number] = item.children;
                const here = target !== null && target[side] === i;
                const shared = target !== null && target[side] === null;
                const cell = shared ? this.matrix.cell({[side]: i, [other]: target[other]}) : null;
                button.classList.toggle('lit', here);
                button.setAttribute('aria-pressed', String(here && locked));
                button.style.backgroundColor = cell && !cell.kind ? attn.colors.color(cell.value) : '';
                button.style.color = cell && !cell.kind ? attn.colors.ink(cell.value) : '';
                number.textContent = cell ? this.matrix.text(cell) : '';
            });
        }

        place(target) {
            return {box: this.right[target.column].getBoundingClientRect(), beside: true};
        }

        reveal(target) {
            (target.column === null ? this.left[target.row] : this.right[target.column]).firstChild.focus();
        }

        resize() {}
    };
}
