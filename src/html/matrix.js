// The numbers of a heatmap page: heads, their mean, sums over chosen words, and what is said of a cell.
'use strict';
{
    attn.words({
        en: {
            gives: (row, column, value) => ['"', row, '" gives "', column, '" ', value],
            givesChosen: (row, n, value) => ['"', row, n === 1 ? '" gives the chosen word ' : `" gives the ${n} chosen words `, value],
            relates: (what, row, column, value) => [what, ' of "', row, '" and "', column, '": ', value],
            relatesChosen: (what, row, n, value) => [`Sum over ${n} chosen of `, what, ' of "', row, '": ', value],
            without: (row, column, kind) => ['"', row, '" to "', column, '": ', kind],
            withoutChosen: (row, n, kind) => ['"', row, n === 1 ? '" to the chosen word: ' : `" to the ${n} chosen words: `, kind],
            place: (row, column) => `row ${row}, column ${column}`,
            placeRow: (row) => `row ${row}`,
            head: (h) => `head ${h}`,
            mean: 'mean of the heads',
        },
        'zh-Hans': {
            gives: (row, column, value) => ['「', row, '」分给「', column, '」的注意力：', value],
            givesChosen: (row, n, value) => ['「', row, `」分给所选 ${n} 个词的注意力：`, value],
            relates: (what, row, column, value) => ['「', row, '」与「', column, '」的', what, '：', value],
            relatesChosen: (what, row, n, value) => ['「', row, `」与所选 ${n} 个词的`, what, '之和：', value],
            without: (row, column, kind) => ['「', row, '」对「', column, '」：', kind],
            withoutChosen: (row, n, kind) => ['「', row, `」对所选 ${n} 个词：`, kind],
            place: (row, column) => `第 ${row} 行，第 ${column} 列`,
            placeRow: (row) => `第 ${row} 行`,
            head: (h) => `头 ${h}`,
            mean: '各头平均',
        },
    });

    const {data} = attn;

    // Heads are decoded when they are first looked at: one of 512 words is a megabyte.
    class Sentence {
        constructor({title, rows, columns, ...packed}) {
            Object.assign(this, {title, rows, columns, packed, heads: new Map()});
        }

        // {values, numbers, hidden}; numbers, which stand in the cells, are null if they are the values, hidden if no cell is.
        head(h) {
            if (!this.heads.has(h)) {
                const unpack = (packed, type) => (packed ? attn.numbers(packed, type) : null);
                const {values, numbers, hidden} = this.packed;
                this.heads.set(h, h === 'mean' ? this.mean() : {values: unpack(values[h], data.type), numbers: unpack(numbers[h], data.type),
                    hidden: unpack(hidden[h], 'u8')});
            }
            return this.heads.get(h);
        }

        // In the order in which the tool adds, so that the numbers are the same. A cell that any head masks is masked.
        mean() {
            const n = data.heads;
            const values = new Float64Array(this.rows.length * this.columns.length);
            let hidden = null;
            for (let h = 0; h < n; h++) {
                const head = this.head(h);
                for (let i = 0; i < values.length; i++) {
                    values[i] += head.values[i] / n;
                }
                if (head.hidden) {
                    hidden = hidden ? hidden.map((was, i) => was | head.hidden[i]) : head.hidden;
                }
            }
            return {values, numbers: null, hidden};
        }
    }

    // What one panel shows: a sentence, a head of it, and the columns that are chosen for a sum.
    class Matrix {
        constructor(sentence, head) {
            Object.assign(this, {sentence, head, chosen: new Set(), ...sentence.head(head)});
            this.rows = sentence.rows;
            this.columns = sentence.columns;
        }

        // 'masked', 'nan' or null: the cell has a value.
        kind(row, column) {
            const i = row * this.columns.length + column;
            return this.hidden && this.hidden[i] ? 'masked' : Number.isNaN(this.values[i]) ? 'nan' : null;
        }

        value(row, column) {
            return this.values[row * this.columns.length + column];
        }

        // What stands in a cell.
        number(row, column) {
            return (this.numbers ?? this.values)[row * this.columns.length + column];
        }

        // What a row gives to the chosen columns: {kind, value}. Masked cells give nothing.
        sum(row) {
            const seen = [...this.chosen].filter((column) => this.kind(row, column) !== 'masked');
            const value = seen.reduce((total, column) => total + this.value(row, column), 0);
            return {kind: seen.length === 0 ? 'masked' : Number.isNaN(value) ? 'nan' : null, value};
        }

        // The cell of a target {row, column}: {kind, value, number}; 'sum' is a column too.
        cell({row, column}) {
            return column === 'sum' ? this.sum(row)
                : {kind: this.kind(row, column), value: this.value(row, column), number: this.number(row, column)};
        }

        text({kind, value, number = value}) {
            return kind ? attn.say(kind) : attn.fixed(number, data.digits);
        }

        // The sentence about a cell, as children of an element.
        sentenceOf(target) {
            const {row, column} = target;
            const cell = this.cell(target);
            const value = this.text(cell);
            const from = attn.word(this.rows[row]);
            const what = data.barTitle === null || cell.kind ? [] : [attn.word(data.barTitle)];
            const verb = cell.kind ? 'without' : what.length ? 'relates' : 'gives';
            return column === 'sum' ? attn.say(`${verb}Chosen`, ...what, from, this.chosen.size, value)
                : attn.say(verb, ...what, from, attn.word(this.columns[column]), value);
        }

        // Where the cell is, and its value as exactly as it is known: the same word may occur twice.
        detailOf(target) {
            const {kind, value} = this.cell(target);
            return [
                target.column === 'sum' ? attn.say('placeRow', target.row + 1) : attn.say('place', target.row + 1, target.column + 1),
                data.heads > 1 ? attn.say(this.head === 'mean' ? 'mean' : 'head', this.head) : null,
                kind ? null : attn.short(value, 7),
            ].filter((part) => part !== null).join(' · ');
        }

        // The k largest cells of a row: those with numbers if --annotate top=k was asked for.
        largest(row, k) {
            const order = this.columns.map((_, column) => column).filter((column) => this.kind(row, column) === null);
            return new Set(order.sort((a, b) => this.value(row, b) - this.value(row, a) || a - b).slice(0, k));
        }
    }

    attn.sentence = (packed) => new Sentence(packed);
    // A sentence has rows, columns, title, and head(h) with {values, hidden}.
    attn.matrix = (sentence, head) => new Matrix(sentence, head);

    // What occurs in the values of these panels: for the legend and the remark about sums.
    attn.survey = (matrices) => {
        const found = {masked: false, nan: false, below: false, above: false, sumsToOne: true};
        for (const m of matrices) {
            const columns = m.columns.length;
            for (let row = 0; row < m.rows.length; row++) {
                let sum = 0;
                for (let i = row * columns; i < (row + 1) * columns; i++) {
                    if (m.hidden && m.hidden[i]) {
                        found.masked = true;
                        continue;
                    }
                    const v = m.values[i];
                    found.nan ||= Number.isNaN(v);
                    found.below ||= v < data.vmin;
                    found.above ||= v > data.vmax;
                    sum += v;
                }
                found.sumsToOne &&= Math.abs(sum - 1) < 1e-4;
            }
        }
        return found;
    };
}
