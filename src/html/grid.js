// The heatmap as a table: a real one, with headings, so that it can be read aloud and copied. Up to 64 words a side.
'use strict';
{
    attn.words({
        en: {
            chosenColumn: 'chosen',
            chooseHelp: 'add to the chosen words',
            hiddenNumbers: 'The cells are too small for their numbers; point at one.',
        },
        'zh-Hans': {
            chosenColumn: '所选',
            chooseHelp: '加入所选的词',
            hiddenNumbers: '格子太小，放不下数字；请指向一个格子。',
        },
    });

    const {data} = attn;
    const ruler = document.createElement('canvas').getContext('2d');

    // Width of a text in ems of the page's font.
    const ems = (text) => {
        ruler.font = `100px ${getComputedStyle(document.body).fontFamily}`;
        return ruler.measureText(text).width / 100;
    };
    attn.ems = ems;

    const LABEL = 15; // pixels of a label's font
    const NUMBER = [13, 11]; // of a number's: where the larger one does not fit, perhaps the smaller one does
    const least = {width: 18, height: 18};
    const most = {width: 64, height: 48}; // wider only for labels, up to:
    const WIDEST = 96;

    // How an upright text stands: Chinese characters on each other (as lines, since not every font has its vertical measures right), all
    // others turned.
    const upright = (text) => (/^[\p{Script=Han}\p{Punctuation}]+$/u.test(text) ? 'stacked' : 'turned');

    attn.Grid = class {
        constructor(panel) {
            this.panel = panel;
            this.matrix = panel.matrix;
            this.lit = [];
            const {rows, columns} = this.matrix;
            this.heads = columns.map((word, column) => this.columnHead(word, column));
            this.cells = rows.map((_, row) => columns.map((__, column) => this.cell(row, column)));
            this.labels = rows.map((word) => attn.element('th', {scope: 'row'}, attn.element('span', {class: 'label'}, attn.word(word))));
            const chosen = attn.say('chosenColumn');
            this.sumHead = attn.element('th', {scope: 'col', class: 'sum', hidden: true},
                attn.element('span', {class: `label ${upright(chosen)}`}, chosen));
            this.sums = rows.map((_, row) => attn.element('td', {class: 'sum', tabindex: -1, hidden: true, 'data-row': row, 'data-column': 'sum'}));
            this.table = attn.element('table', {class: 'grid', role: 'grid', 'aria-label': `${attn.rowTitle} × ${attn.columnTitle}`},
                attn.element('thead', {}, attn.element('tr', {}, attn.element('td', {class: 'corner'}), this.heads, this.sumHead)),
                attn.element('tbody', {}, rows.map((_, row) => attn.element('tr', {}, this.labels[row], this.cells[row], this.sums[row]))));
            this.note = attn.element('p', {class: 'quiet note', hidden: true}, attn.say('hiddenNumbers'));
            this.element = attn.element('div', {class: 'plot'},
                attn.element('div', {class: 'axis axis-column', 'aria-hidden': 'true'}, attn.word(attn.columnTitle)),
                attn.element('div', {class: `axis axis-row ${upright(attn.rowTitle)}`, 'aria-hidden': 'true'}, attn.word(attn.rowTitle)),
                attn.element('div', {class: 'scroll'}, this.table), this.note);
            this.cells[0][0].tabIndex = 0;
            this.listen();
            this.draw();
        }

        columnHead(word, column) {
            const button = attn.element('button', {type: 'button', class: `label ${upright(word)}`, 'aria-pressed': 'false', title: attn.say('chooseHelp'),
                'data-column': column}, attn.word(word));
            return attn.element('th', {scope: 'col'}, button);
        }

        cell(row, column) {
            const kind = this.matrix.kind(row, column);
            const cell = attn.element('td', {tabindex: -1, class: kind, 'data-row': row, 'data-column': column});
            if (kind) {
                cell.append(attn.element('span', {class: 'unseen'}, attn.say(kind)),
                    attn.element('span', {class: 'number', 'aria-hidden': 'true'}, kind === 'nan' ? 'NaN' : '–'));
            } else {
                this.paint(cell, this.matrix.value(row, column), this.matrix.number(row, column));
            }
            return cell;
        }

        paint(cell, value, number = value) {
            cell.style.backgroundColor = attn.colors.color(value);
            cell.style.color = attn.colors.ink(value);
            cell.replaceChildren(attn.element('span', {class: 'number'}, attn.fixed(number, data.digits)));
        }

        // ---- pointing ----

        // The target under an event's element; null for what is between.
        target(node) {
            const cell = node.closest('td[data-row]');
            const row = node.closest('tbody th');
            const head = node.closest('button[data-column]');
            if (cell) {
                const column = cell.dataset.column === 'sum' ? 'sum' : Number(cell.dataset.column);
                return {row: Number(cell.dataset.row), column};
            }
            return row ? {row: this.labels.indexOf(row), column: null}
                : head ? {row: null, column: Number(head.dataset.column)} : null;
        }

        hit(event) {
            const between = event.target.matches('table, tbody, tr');
            return between ? undefined : this.target(event.target);
        }

        listen() {
            this.table.addEventListener('click', (event) => {
                const target = this.target(event.target);
                if (target && (target.row === null || event.shiftKey) && Number.isInteger(target.column)) {
                    this.panel.choose(target.column);
                } else if (target) {
                    this.panel.press(target);
                }
            });
            this.table.addEventListener('focusin', (event) => {
                if (event.target.matches('td:focus-visible')) {
                    this.panel.over(this.target(event.target));
                }
            });
        }

        node({row, column}) {
            return column === 'sum' ? this.sums[row] : this.cells[row][column];
        }

        light(target, locked) {
            this.lit.forEach((node) => node.classList.remove('lit', 'here'));
            this.lit = [];
            this.table.classList.toggle('some-lit', target !== null);
            this.table.classList.toggle('locked', target !== null && locked);
            if (target === null) {
                return;
            }
            const {row, column} = target;
            if (row !== null) {
                this.lit.push(this.labels[row], ...this.cells[row], this.sums[row]);
            }
            if (column === 'sum') {
                this.lit.push(this.sumHead, ...this.sums);
            } else if (column !== null) {
                this.lit.push(this.heads[column], ...this.cells.map((cells) => cells[column]));
            }
            this.lit.forEach((node) => node.classList.add('lit'));
            if (row !== null && column !== null) {
                this.node(target).classList.add('here');
            }
        }

        place(target) {
            const head = target.column === 'sum' ? this.sumHead : this.heads[target.column];
            return {box: this.node(target).getBoundingClientRect(), label: head.firstChild.getBoundingClientRect()};
        }

        // One cell at a time is in the order of the Tab key.
        reveal(target) {
            this.table.querySelectorAll('td[tabindex="0"]').forEach((cell) => {
                cell.tabIndex = -1;
                cell.removeAttribute('aria-describedby');
            });
            const cell = this.node(target);
            cell.tabIndex = 0;
            cell.setAttribute('aria-describedby', attn.tip.element.id);
            cell.focus({preventScroll: true});
            cell.scrollIntoView({block: 'nearest', inline: 'nearest'});
        }

        // ---- numbers, choices, sizes ----

        draw() {
            const {chosen, rows} = this.matrix;
            this.heads.forEach((head, column) => {
                head.firstChild.setAttribute('aria-pressed', String(chosen.has(column)));
            });
            this.sumHead.hidden = chosen.size === 0;
            for (let row = 0; row < rows.length; row++) {
                const cell = this.sums[row];
                const {kind, value} = this.matrix.sum(row);
                cell.hidden = chosen.size === 0;
                cell.classList.toggle('masked', kind === 'masked');
                cell.classList.toggle('nan', kind === 'nan');
                if (kind) {
                    cell.style.backgroundColor = '';
                    cell.replaceChildren(attn.say(kind));
                } else {
                    this.paint(cell, value);
                }
            }
        }

        // Cells fill the room there is, between the smallest and the largest that look well; labels stand upright where they are too wide.
        // Room beside the cells, and what their words and numbers would like (the larger and the smaller numbers).
        measures() {
            const {rows, columns, chosen} = this.matrix;
            const sums = chosen.size > 0 ? 1 : 0;
            const longest = Math.max(...this.cells.flat().map((cell) => cell.lastChild.textContent.length));
            return {
                count: columns.length + sums,
                beside: LABEL * Math.min(Math.max(...rows.map(ems)), 12) + 56 + 12 * sums,
                widest: LABEL * Math.max(...columns.map(ems)) + 14,
                numbers: NUMBER.map((size) => size * ems('8') * longest + 6),
            };
        }

        needs() {
            const {count, beside, numbers} = this.measures();
            return beside + count * ((data.cell || numbers[0]) + 2);
        }

        resize(room) {
            const {count, beside, widest, numbers} = this.measures();
            const share = Math.floor((room - beside) / count) - 2;
            const wanted = Math.min(Math.max(most.width, widest), WIDEST);
            let width = data.cell || Math.max(Math.min(share, wanted), least.width);
            if (data.annotate === 'all') {
                width = Math.max(width, numbers[0]);
            }
            const height = data.cell || Math.max(Math.min(width, most.height), least.height);
            const style = this.table.style;
            style.setProperty('--width', `${width}px`);
            style.setProperty('--height', `${height}px`);
            style.setProperty('--gap', width < 30 ? '1px' : '2px');
            this.table.classList.toggle('upright', widest > width);
            const size = data.annotate === 'none' ? -1 : numbers.findIndex((number) => number <= width);
            style.setProperty('--number', `${NUMBER[Math.max(size, 0)]}px`);
            this.table.classList.toggle('no-numbers', size < 0);
            this.note.hidden = size >= 0 || data.annotate === 'none';
            this.showLargest();
        }

        showLargest() {
            if (data.top > 0) {
                this.cells.forEach((cells, row) => {
                    const largest = this.matrix.largest(row, data.top);
                    cells.forEach((cell, column) => cell.classList.toggle('no-number', !largest.has(column)));
                });
            }
        }
    };
}
