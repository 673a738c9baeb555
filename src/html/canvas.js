// The heatmap on a canvas, for long sentences: what is to be seen of it is drawn whenever it scrolls, however many cells there are.
'use strict';
{
    attn.words({
        en: {
            smaller: 'Smaller cells',
            larger: 'Larger cells',
            cellSize: (cell) => `${cell} px a cell`,
            everyLabel: (step) => `One label in ${step} is shown; larger cells show more.`,
            canvasHelp: (rows, columns) => `Heatmap, ${rows} rows and ${columns} columns. Arrow keys move, Enter keeps a cell.`,
        },
        'zh-Hans': {
            smaller: '缩小格子',
            larger: '放大格子',
            cellSize: (cell) => `每格 ${cell} 像素`,
            everyLabel: (step) => `每 ${step} 个词标出一个；放大格子可看到更多。`,
            canvasHelp: (rows, columns) => `热图，${rows} 行 ${columns} 列。方向键移动，回车固定一个格子。`,
        },
    });

    const {data} = attn;
    const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 44, 60]; // pixels of a cell
    const FONT = 13;
    const PITCH = 16; // pixels a label needs
    const LONGEST = 10; // ems of a label
    const SUM = 52; // width of the sums

    const scratch = (width, height) => Object.assign(document.createElement('canvas'), {width, height});

    // The hatch of cells without a value: down for masked ones, up for what is no number.
    const hatch = (up) => {
        const canvas = scratch(6, 6);
        const c = canvas.getContext('2d');
        c.fillStyle = '#d9d9d9';
        c.fillRect(0, 0, 6, 6);
        c.strokeStyle = '#aaa';
        for (const shift of [-6, 0, 6]) {
            c.moveTo(shift, up ? 6 : 0);
            c.lineTo(shift + 6, up ? 0 : 6);
        }
        c.stroke();
        return canvas;
    };

    attn.Canvas = class {
        constructor(panel) {
            this.panel = panel;
            this.matrix = panel.matrix;
            this.target = null;
            this.size = null; // of a cell: chosen by the first resize
            const {rows, columns} = this.matrix;
            const gutter = (words) => Math.ceil(FONT * Math.min(1.15 * Math.max(...words.map(attn.ems)), LONGEST)) + 14; // room for bold
            this.left = gutter(rows);
            this.top = gutter(columns);
            this.paint();
            this.canvas = attn.element('canvas', {'aria-hidden': 'true'});
            this.inner = attn.element('div', {}, this.canvas);
            this.scroll = attn.element('div', {class: 'canvas-scroll', tabindex: 0, role: 'application',
                'aria-label': attn.say('canvasHelp', rows.length, columns.length)}, this.inner);
            this.said = attn.element('p', {class: 'unseen', role: 'status'});
            this.note = attn.element('p', {class: 'quiet note'});
            this.sizeText = attn.element('span', {class: 'quiet'});
            this.element = attn.element('div', {class: 'canvas-view'}, this.tools(), this.axes(), this.scroll, this.note, this.said);
            this.listen();
        }

        tools() {
            const button = (sign, name, by) => {
                const b = attn.element('button', {type: 'button', title: attn.say(name), 'aria-label': attn.say(name)}, sign);
                b.addEventListener('click', () => this.zoom(by));
                return b;
            };
            this.minus = button('−', 'smaller', -1);
            this.plus = button('+', 'larger', 1);
            return attn.element('div', {class: 'canvas-tools screen-only'}, this.minus, this.plus, this.sizeText);
        }

        axes() {
            return attn.element('p', {class: 'axis', 'aria-hidden': 'true'}, '↓ ', attn.word(attn.rowTitle), '\u2003→ ',
                attn.word(attn.columnTitle));
        }

        listen() {
            this.scroll.addEventListener('scroll', () => this.draw(), {passive: true});
            this.canvas.addEventListener('click', (event) => {
                const target = this.hit(event);
                if (target && (target.row === null || event.shiftKey) && Number.isInteger(target.column)) {
                    this.panel.choose(target.column);
                } else if (target) {
                    this.panel.press(target);
                }
            });
            matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
        }

        // ---- one pixel a cell: the colours, and for each kind of cell without a value where it is ----

        paint() {
            const {rows, columns} = this.matrix;
            const n = rows.length * columns.length;
            const image = new ImageData(columns.length, rows.length);
            const kinds = {masked: null, nan: null};
            for (let i = 0; i < n; i++) {
                const kind = this.matrix.hidden && this.matrix.hidden[i] ? 'masked' : Number.isNaN(this.matrix.values[i]) ? 'nan' : null;
                if (kind) {
                    kinds[kind] ??= new ImageData(columns.length, rows.length);
                    kinds[kind].data[4 * i + 3] = 255;
                } else {
                    image.data.set(attn.colors.rgb[attn.colors.step(this.matrix.values[i])], 4 * i);
                    image.data[4 * i + 3] = 255;
                }
            }
            const canvasOf = (pixels) => {
                const canvas = scratch(columns.length, rows.length);
                canvas.getContext('2d').putImageData(pixels, 0, 0);
                return canvas;
            };
            this.picture = canvasOf(image);
            this.without = Object.entries(kinds).filter(([, pixels]) => pixels).map(([kind, pixels]) => [canvasOf(pixels), hatch(kind === 'nan')]);
        }

        // ---- sizes ----

        get right() {
            return this.matrix.chosen.size > 0 ? SUM : 0;
        }

        resize(room) {
            const {columns} = this.matrix;
            const fit = (room - this.left - 4) / columns.length;
            this.size ??= data.cell || SIZES.filter((size) => size <= Math.min(fit, 24)).at(-1) || 1;
            this.layOut();
        }

        // The next size of the list, around what is pointed at or the middle.
        zoom(by) {
            const next = by > 0 ? SIZES.find((size) => size > this.size) : SIZES.findLast((size) => size < this.size);
            if (next) {
                const {scrollLeft, scrollTop, clientWidth, clientHeight} = this.scroll;
                const x = (scrollLeft + (clientWidth - this.left) / 2) / this.size;
                const y = (scrollTop + (clientHeight - this.top) / 2) / this.size;
                this.size = next;
                this.layOut();
                this.scroll.scrollLeft = x * next - (this.scroll.clientWidth - this.left) / 2;
                this.scroll.scrollTop = y * next - (this.scroll.clientHeight - this.top) / 2;
            }
        }

        layOut() {
            this.inner.style.height = `${this.top + this.matrix.rows.length * this.size}px`;
            this.step = Math.ceil(PITCH / this.size);
            this.sizeText.textContent = attn.say('cellSize', this.size);
            this.minus.disabled = this.size <= SIZES[0];
            this.plus.disabled = this.size >= SIZES.at(-1);
            this.note.textContent = this.step > 1 ? attn.say('everyLabel', this.step) : '';
            this.draw();
        }

        // ---- drawing, once a frame at most ----

        // Also after a change of what is chosen, whose sums take room.
        draw() {
            this.inner.style.width = `${this.left + this.matrix.columns.length * this.size + this.right}px`;
            this.frame ??= requestAnimationFrame(() => {
                this.frame = undefined;
                this.drawNow();
            });
        }

        drawNow() {
            const {clientWidth: width, clientHeight: height} = this.scroll;
            const ratio = window.devicePixelRatio;
            const style = getComputedStyle(document.documentElement);
            const {canvas} = this;
            if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
                canvas.width = Math.round(width * ratio);
                canvas.height = Math.round(height * ratio);
                canvas.style.width = `${width}px`;
                canvas.style.height = `${height}px`;
            }
            const c = canvas.getContext('2d');
            this.c = c;
            this.ink = Object.fromEntries(['raised', 'ink', 'quiet', 'accent'].map((name) => [name, style.getPropertyValue(`--${name}`)]));
            c.setTransform(ratio, 0, 0, ratio, 0, 0);
            c.fillStyle = this.ink.raised;
            c.fillRect(0, 0, width, height);
            this.inside(this.left, this.top, width - this.left - this.right, height - this.top, () => this.drawCells());
            const half = PITCH / 2; // of the first label may stand beside its cell
            this.inside(this.left - half, 0, width - this.left - this.right + half, this.top, () => this.drawLabels('column'));
            this.inside(0, this.top - half, this.left, height - this.top + half, () => this.drawLabels('row'));
            if (this.right > 0) {
                this.inside(width - this.right, 0, this.right, height, () => this.drawSums(width - this.right));
            }
        }

        inside(x, y, width, height, draw) {
            this.c.save();
            this.c.beginPath();
            this.c.rect(x, y, width, height);
            this.c.clip();
            draw();
            this.c.restore();
        }

        // The rows or columns to be seen, and where each begins.
        seen(side) {
            const row = side === 'row';
            const from = row ? this.scroll.scrollTop : this.scroll.scrollLeft;
            const start = row ? this.top : this.left;
            const room = row ? this.scroll.clientHeight - this.top : this.scroll.clientWidth - this.left - this.right;
            const words = row ? this.matrix.rows : this.matrix.columns;
            return {words, first: Math.floor(from / this.size), end: Math.min(Math.ceil((from + room) / this.size), words.length),
                at: (i) => start + i * this.size - from};
        }

        drawCells() {
            const {c, size} = this;
            const rows = this.seen('row');
            const columns = this.seen('column');
            const n = [columns.end - columns.first, rows.end - rows.first];
            const from = [columns.first, rows.first, ...n];
            const to = [columns.at(columns.first), rows.at(rows.first), n[0] * size, n[1] * size];
            c.imageSmoothingEnabled = false;
            c.drawImage(this.picture, ...from, ...to);
            for (const [where, pattern] of this.without) {
                const layer = scratch(Math.ceil(to[2]), Math.ceil(to[3]));
                const l = layer.getContext('2d');
                l.imageSmoothingEnabled = false;
                l.drawImage(where, ...from, 0, 0, to[2], to[3]);
                l.globalCompositeOperation = 'source-in';
                l.fillStyle = l.createPattern(pattern, 'repeat');
                l.fillRect(0, 0, to[2], to[3]);
                c.drawImage(layer, to[0], to[1]);
            }
            this.drawNumbers(rows, columns);
            this.drawLight(rows, columns);
        }

        drawNumbers(rows, columns) {
            const {c, size} = this;
            c.font = `${FONT - 1}px ${getComputedStyle(document.body).fontFamily}`;
            c.textAlign = 'center';
            c.textBaseline = 'middle';
            if (data.annotate === 'none' || size < c.measureText(attn.fixed(data.vmax, data.digits)).width + 6) {
                return;
            }
            for (let row = rows.first; row < rows.end; row++) {
                for (let column = columns.first; column < columns.end; column++) {
                    const kind = this.matrix.kind(row, column);
                    const value = this.matrix.value(row, column);
                    c.fillStyle = kind ? '#000' : attn.colors.ink(value);
                    c.fillText(kind ? {nan: 'NaN', masked: '–'}[kind] : attn.fixed(this.matrix.number(row, column), data.digits), columns.at(column) + size / 2,
                        rows.at(row) + size / 2);
                }
            }
        }

        // Everything outside the row and the column pales; the cell has a frame.
        drawLight(rows, columns) {
            const {c, size, target} = this;
            if (!target) {
                return;
            }
            const far = 1e5;
            const hole = (side, i) => (i === null || i === 'sum' ? [far, 0] : [side.at(i), size]);
            const [x, width] = hole(columns, target.column);
            const [y, height] = hole(rows, target.row);
            c.fillStyle = this.ink.raised;
            c.globalAlpha = 0.6;
            for (const [left, right] of [[0, x], [x + width, far]]) {
                c.fillRect(left, 0, right - left, y);
                c.fillRect(left, y + height, right - left, far);
            }
            c.globalAlpha = 1;
            if (width > 0 && height > 0) {
                c.strokeStyle = this.panel.locked ? this.ink.accent : this.ink.ink;
                c.lineWidth = this.panel.locked ? 3 : 2;
                c.strokeRect(x - 1, y - 1, width + 2, height + 2);
            }
        }

        // Every so many labels; always those that are lit or chosen, with room around them.
        drawLabels(side) {
            const {c, size, step, target} = this;
            const {words, first, end, at} = this.seen(side);
            const chosen = side === 'column' ? this.matrix.chosen : new Set();
            const special = (i) => i === target?.[side] || chosen.has(i);
            const near = (i) => Array.from({length: 2 * step - 1}, (_, k) => i - step + 1 + k).some((k) => k !== i && special(k));
            c.textBaseline = 'middle';
            c.textAlign = side === 'row' ? 'end' : 'start';
            for (let i = first; i < end; i++) {
                if (special(i) || (i % step === 0 && !near(i))) {
                    c.font = `${special(i) ? 600 : 400} ${FONT}px ${getComputedStyle(document.body).fontFamily}`;
                    c.fillStyle = special(i) ? this.ink.accent : this.ink.ink;
                    c.save();
                    const middle = at(i) + size / 2;
                    c.translate(side === 'row' ? this.left - 6 : middle, side === 'row' ? middle : this.top - 6);
                    c.rotate(side === 'row' ? 0 : -Math.PI / 2);
                    c.fillText(this.shorten(words[i]), 0, 0);
                    c.restore();
                }
            }
        }

        shorten(word) {
            const room = FONT * LONGEST;
            let text = word;
            while (text.length > 1 && this.c.measureText(text).width > room) {
                text = `${[...text.replace(/…$/, '')].slice(0, -1).join('')}…`;
            }
            return text;
        }

        drawSums(x) {
            const {c, size} = this;
            const {first, end, at} = this.seen('row');
            c.font = `${FONT - 1}px ${getComputedStyle(document.body).fontFamily}`;
            c.fillStyle = this.ink.quiet;
            c.textAlign = 'center';
            c.textBaseline = 'bottom';
            c.fillText(attn.say('chosenColumn'), x + SUM / 2, this.top - 6);
            c.textBaseline = 'middle';
            c.beginPath();
            c.rect(x, this.top, SUM, this.scroll.clientHeight);
            c.clip();
            for (let row = first; row < end; row++) {
                const {kind, value} = this.matrix.sum(row);
                c.fillStyle = kind ? '#d9d9d9' : attn.colors.color(value);
                c.fillRect(x + 8, at(row), SUM - 12, size);
                if (size >= FONT) {
                    c.fillStyle = kind ? '#000' : attn.colors.ink(value);
                    c.fillText(kind ? '–' : attn.fixed(value, data.digits), x + SUM / 2 + 2, at(row) + size / 2);
                }
            }
        }

        // ---- pointing ----

        hit(event) {
            if (event.target !== this.canvas) {
                return null;
            }
            const frame = this.canvas.getBoundingClientRect();
            const x = event.clientX - frame.left;
            const y = event.clientY - frame.top;
            const inSums = this.right > 0 && x >= frame.width - this.right;
            const column = inSums ? 'sum' : x < this.left ? null : Math.floor((x - this.left + this.scroll.scrollLeft) / this.size);
            const row = y < this.top ? null : Math.floor((y - this.top + this.scroll.scrollTop) / this.size);
            const outside = row >= this.matrix.rows.length || column >= this.matrix.columns.length;
            return outside || (row === null && !Number.isInteger(column)) ? null : {row, column};
        }

        light(target) {
            this.target = target;
            this.draw();
        }

        place({row, column}) {
            const frame = this.canvas.getBoundingClientRect();
            const x = column === 'sum' ? frame.width - this.right + 8 : this.seen('column').at(column);
            const y = this.seen('row').at(row);
            const hidden = y + this.size < this.top || y > frame.height || x + this.size < this.left || x > frame.width;
            return hidden ? null : {box: new DOMRect(frame.left + x, frame.top + y, column === 'sum' ? SUM - 12 : this.size, this.size),
                label: new DOMRect(frame.left + x, frame.top, this.size, this.top)};
        }

        reveal({row, column}) {
            const into = (side, i, edge, room) => {
                const {at} = this.seen(side);
                const before = at(i) - (side === 'row' ? this.top : this.left);
                const after = at(i) + this.size - room;
                this.scroll[edge] += before < 0 ? before : after > 0 ? after : 0;
            };
            into('row', row, 'scrollTop', this.scroll.clientHeight);
            if (column !== 'sum') {
                into('column', column, 'scrollLeft', this.scroll.clientWidth - this.right);
            }
            this.scroll.scrollIntoView({block: 'nearest'});
            this.said.replaceChildren(...this.matrix.sentenceOf({row, column}));
        }
    };
}
