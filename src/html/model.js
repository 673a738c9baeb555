// What models make of the sentences, and what they would make of other weights: everything after the weights is computed here, in float64,
// from the model's own numbers.
'use strict';
{
    const range = (n) => Array.from({length: n}, (_, i) => i);
    const sum = (x) => x.reduce((total, v) => total + v, 0);
    const mean = (x) => sum(x) / x.length;

    const softmax = (x) => {
        const max = Math.max(...x);
        const e = x.map((v) => Math.exp(v - max));
        const total = sum(e);
        return e.map((v) => v / total);
    };

    // One head of one model: the arrays of attn/explain.h, decoded.
    const decodeHead = (packed) => Object.fromEntries(Object.entries(packed).map(([key, text]) => [key, attn.numbers(text, 'f32')]));

    // One model, or several whose probabilities are averaged, on one sentence. Words are those that it looks at: begin .. begin + count - 1.
    class Run {
        constructor(data, sentence) {
            Object.assign(this, data, {words: sentence.words.slice(data.begin, data.begin + data.count), target: sentence.target - data.begin});
            this.members = data.members.map((member) => ({...member, heads: member.heads.map(decodeHead)}));
            this.heads = this.members[0].heads.length;
            // (count, senses) what a word says whatever its weight, and the sums over the words.
            this.neighbours = data.neighbours ? Float64Array.from(data.neighbours) : null;
            this.counted = this.senses.map((_, s) => (this.neighbours ? sum(this.words.map((_, j) => this.neighbours[j * this.senses.length + s])) : 0));
        }

        // The learned weights [member][head][word]. float32 sums to 1 to within 1e-7; the rest is shared out.
        learned() {
            return this.members.map(({heads}) => heads.map(({weights}) => {
                const total = sum([...weights]);
                return Float64Array.from(weights, (w) => w / total);
            }));
        }

        // New vector (dv) of one head.
        mix(head, weights) {
            const mixed = new Float64Array(this.dv);
            weights.forEach((w, j) => {
                for (let c = 0; c < this.dv; c++) {
                    mixed[c] += w * head.values[j * this.dv + c];
                }
            });
            return mixed;
        }

        // What a head adds to the logit of each sense.
        part(head, mixed) {
            return this.senses.map((_, s) => sum(Array.from(mixed, (v, c) => v * head.matrix[c * this.senses.length + s])));
        }

        // Probabilities of the senses with these weights [member][head][word].
        evaluate(weights) {
            const each = this.members.map((member, k) => {
                const parts = member.heads.map((head, h) => this.part(head, this.mix(head, weights[k][h])));
                return softmax(this.senses.map((_, s) => sum(parts.map((part) => part[s])) + member.bias[s] + member.prior[s] + this.counted[s]));
            });
            return this.senses.map((_, s) => mean(each.map((p) => p[s])));
        }
    }

    // Weights that can be moved, of all heads or of one: what is shown of a word is its mean over these.
    class Mixture {
        constructor(run, view) {
            this.run = run;
            this.view = view; // {member, head}: a number or 'all' each
            this.reset();
        }

        reset() {
            this.weights = this.run.learned();
        }

        // The arrays that are shown and moved.
        rows() {
            const chosen = (list, which) => (which === 'all' ? list : [list[which]]);
            return chosen(this.weights, this.view.member).flatMap((heads) => chosen(heads, this.view.head));
        }

        shown() {
            const rows = this.rows();
            return this.run.words.map((_, j) => mean(rows.map((row) => row[j])));
        }

        // Word j gets `value` of the mean, the others keep their proportions; each row still sums to 1. A row moves as far towards 1 or 0,
        // in parts of its own way there, as the mean does; all the way is exactly 1.
        move(j, value) {
            const now = this.shown()[j];
            for (const row of this.rows()) {
                const mine = value > now ? 1 - (1 - row[j]) * ((1 - value) / (1 - now)) : now > 0 ? row[j] * (value / now) : 0;
                attn.share(row, j, Math.min(Math.max(mine, 0), 1));
            }
        }

        probabilities() {
            return this.run.evaluate(this.weights);
        }
    }

    // Sets row[j] and scales the others so that all sum to 1; where the others are all 0 they share alike.
    attn.share = (row, j, value) => {
        const rest = sum([...row]) - row[j];
        const others = row.length - 1;
        row[j] = others > 0 ? value : 1;
        for (let i = 0; i < row.length; i++) {
            if (i !== j) {
                row[i] = rest > 1e-300 ? row[i] * ((1 - value) / rest) : (1 - value) / others;
            }
        }
    };

    attn.range = range;
    attn.sum = sum;
    attn.softmax = softmax;
    attn.mixture = (run, view) => new Mixture(run, view);
    attn.sentences = attn.data.sentences.map((sentence) => ({...sentence, runs: sentence.runs.map((run) => new Run(run, sentence))}));
}
