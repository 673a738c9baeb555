// Words as colours: each sentence is a card, its weights are sliders, the word's new vector is the mix of the colours, and below it stand the
// senses that the model would then see.
'use strict';
{
    attn.words({
        en: {
            weightOf: (word) => ['Weight of ', word],
            inThisSentence: (word) => [word, ' in this sentence'],
            mixOf: 'the mix of its words by their weights',
            sum: 'Sum of the weights',
            back: 'Back to the learned weights',
            senses: 'What the model then thinks',
            learnedMark: 'The mark is where the learned weights put it.',
            allWords: (n) => `Show all ${n} words`,
            fewWords: 'Show the words with most weight',
            itself: 'itself',
            outside: 'Words without a colour are too far away: the model does not look at them.',
        },
        'zh-Hans': {
            weightOf: (word) => [word, ' 的权重'],
            inThisSentence: (word) => ['这句话里的', word],
            mixOf: '句中各词的颜色按权重混合而成',
            sum: '权重之和',
            back: '恢复学到的权重',
            senses: '模型这时的判断',
            learnedMark: '竖线标出学到的权重给出的概率。',
            allWords: (n) => `显示全部 ${n} 个词`,
            fewWords: '只显示权重最大的词',
            itself: '自己',
            outside: '没有颜色的词离得太远，模型看不到。',
        },
    });

    const MANY = 40; // different colours; further words, which have little weight, repeat them
    const FEW = 10; // sliders of longer sentences: those of the words with most weight

    // ---- colours ----

    // Seven that people with any kind of colour vision can tell apart (Okabe and Ito 2008), the most distinct first.
    const palette = ['e69f00', '0072b2', '009e73', 'cc79a7', 'd55e00', '56b4e9', 'f0e442'];
    const own = 'b0b4bb'; // the ambiguous word: without context it has no colour yet

    const bytes = (hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const toLight = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const fromLight = (v) => Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));

    // Place of a colour in OKLab, where distances are those that people see. Source: Ottosson 2020.
    const place = (rgb) => {
        const [r, g, b] = rgb.map(toLight);
        const [l, m, s] = [0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b, 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
            0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b].map(Math.cbrt);
        return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
    };
    const distance = (a, b) => Math.hypot(...a.map((v, i) => v - b[i]));

    // More colours than seven: each time the one that is farthest from all so far, of those with steps of 51 a
    // channel that are neither pale nor dark.
    const candidates = attn.range(216).map((i) => [i % 6, Math.floor(i / 6) % 6, Math.floor(i / 36)].map((v) => 51 * v))
        .filter((rgb) => Math.max(...rgb) - Math.min(...rgb) > 60 && place(rgb)[0] > 0.45 && place(rgb)[0] < 0.87);
    const extend = (list) => {
        const taken = list.map(place);
        const room = (rgb) => Math.min(...taken.map((at) => distance(at, place(rgb))));
        return candidates.reduce((best, rgb) => (room(rgb) > room(best) ? rgb : best));
    };

    // The same word has the same colour everywhere. Words get colours in the order of the largest weight that they have anywhere.
    const assign = () => {
        const most = new Map();
        for (const {words, target, runs: [run]} of attn.sentences) {
            attn.mixture(run, {member: 'all', head: 'all'}).shown().forEach((w, j) => {
                const word = run.words[j];
                if (word !== words[target]) {
                    most.set(word, Math.max(most.get(word) ?? 0, w));
                }
            });
        }
        const targets = new Set(attn.sentences.map(({words, target}) => words[target]));
        const order = [...most.keys()].filter((word) => !targets.has(word)).sort((a, b) => most.get(b) - most.get(a));
        const list = palette.map(bytes);
        while (list.length < Math.min(order.length, MANY)) {
            list.push(extend([...list, bytes(own)]));
        }
        return new Map([...[...targets].map((word) => [word, bytes(own)]), ...order.map((word, i) => [word, list[i % list.length]])]);
    };
    const colors = assign();

    const css = (rgb) => `rgb(${rgb.join(' ')})`;

    // As lamps mix: shares of light, not of the numbers that screens are told.
    const mixed = (words, weights) => [0, 1, 2].map((k) =>
        fromLight(attn.sum(words.map((word, j) => weights[j] * toLight(colors.get(word)[k])))));

    attn.wordColor = (word) => colors.get(word) ?? bytes(own);

    const paint = (node, rgb) => {
        node.style.backgroundColor = css(rgb);
        node.style.color = attn.inkOn(rgb);
        return node;
    };

    // ---- one sentence ----

    class Card {
        constructor(sentence, which, view) {
            Object.assign(this, {sentence, run: sentence.runs[which]});
            this.mixture = attn.mixture(this.run, view);
            this.few = this.run.words.length > FEW;
            this.swatch = attn.element('div', {class: 'mix-swatch', role: 'img'});
            this.bar = attn.element('div', {class: 'mix-bar', 'aria-hidden': 'true'}, this.run.words.map((word) =>
                paint(attn.element('span', {}), attn.wordColor(word))));
            this.sum = attn.element('output', {class: 'mix-sum'});
            this.back = attn.element('button', {type: 'button'}, attn.say('back'));
            this.back.addEventListener('click', () => {
                this.mixture.reset();
                this.show();
            });
            this.rows = this.run.words.map((word, j) => this.slider(word, j));
            this.list = attn.element('div', {class: 'mix-sliders'}, this.rows.map(({element}) => element));
            this.senses = this.run.senses.map((sense) => this.sense(sense));
            this.element = attn.element('article', {class: 'mix-card'}, this.parts());
            this.show();
        }

        parts() {
            const word = attn.word(this.sentence.words[this.sentence.target]);
            const more = attn.element('button', {type: 'button', class: 'mix-more'});
            more.addEventListener('click', () => {
                this.few = !this.few;
                this.showRows(more);
            });
            this.showRows(more);
            return [
                attn.element('p', {class: 'mix-sentence'}, this.sentence.words.map((text, i) => this.chip(text, i))),
                this.run.count < this.sentence.words.length ? attn.element('p', {class: 'quiet mix-outside'}, attn.say('outside')) : null,
                attn.element('div', {class: 'mix-result'}, this.swatch,
                    attn.element('div', {class: 'mix-what'}, attn.element('h2', {}, attn.say('inThisSentence', word)),
                        attn.element('p', {class: 'quiet'}, attn.say('mixOf')))),
                this.bar,
                this.list,
                this.run.words.length > FEW ? more : null,
                attn.element('div', {class: 'mix-total'}, attn.element('span', {class: 'quiet'}, attn.say('sum'), ' '), this.sum, this.back),
                attn.element('h3', {}, attn.say('senses')),
                attn.element('div', {class: 'mix-senses'}, this.senses.map(({element}) => element)),
                attn.element('p', {class: 'quiet'}, attn.say('learnedMark')),
            ];
        }

        chip(text, i) {
            const seen = i >= this.run.begin && i < this.run.begin + this.run.count;
            const chip = attn.element('span', {class: i === this.sentence.target ? 'chip chip-target' : 'chip'}, attn.word(text));
            return seen ? paint(chip, attn.wordColor(text)) : chip;
        }

        slider(word, j) {
            const name = attn.element('span', {class: 'mix-name'}, paint(attn.element('i', {class: 'dot'}), attn.wordColor(word)),
                attn.word(word), j === this.run.target ? attn.element('span', {class: 'quiet'}, ` (${attn.say('itself')})`) : null);
            const label = attn.say('weightOf', word).join('');
            const input = attn.element('input', {type: 'range', min: 0, max: 1, step: 'any', 'aria-label': label, 'data-word': j});
            input.style.setProperty('--tint', css(attn.wordColor(word)));
            const text = attn.element('output', {class: 'mix-weight'});
            input.addEventListener('input', () => {
                this.mixture.move(j, Number(input.value));
                this.show();
            });
            return {input, text, element: attn.element('label', {class: 'mix-slider'}, name, input, text)};
        }

        // Which sliders are there, when there are many words: those with most learned weight and
        // the word itself, in the order of the sentence.
        showRows(button) {
            const learned = attn.mixture(this.run, this.mixture.view).shown();
            const order = attn.range(learned.length).sort((a, b) => learned[b] - learned[a]);
            const kept = new Set(this.few ? [...order.slice(0, FEW), this.run.target] : order);
            this.rows.forEach(({element}, j) => {
                element.hidden = !kept.has(j);
            });
            button.textContent = this.few ? attn.say('allWords', this.rows.length) : attn.say('fewWords');
        }

        sense(sense) {
            const fill = attn.element('i', {class: 'sense-fill'});
            const mark = attn.element('i', {class: 'sense-mark'});
            const text = attn.element('output', {});
            const element = attn.element('div', {class: 'sense'}, attn.element('span', {class: 'sense-name'}, attn.word(sense)),
                attn.element('span', {class: 'sense-bar'}, fill, mark), text);
            return {fill, mark, text, element};
        }

        show() {
            const weights = this.mixture.shown();
            const rgb = mixed(this.run.words, weights);
            this.swatch.style.backgroundColor = css(rgb);
            this.swatch.setAttribute('aria-label', css(rgb));
            this.rows.forEach(({input, text}, j) => {
                input.value = String(weights[j]);
                input.style.setProperty('--part', `${100 * weights[j]}%`);
                text.textContent = attn.fixed(weights[j], 3);
                this.bar.children[j].style.flexGrow = String(weights[j]);
            });
            this.sum.textContent = attn.fixed(attn.sum(weights), 6);
            this.mixture.probabilities().forEach((p, s) => {
                const {fill, mark, text} = this.senses[s];
                fill.style.width = `${100 * p}%`;
                mark.style.left = `${100 * this.run.probabilities[s]}%`;
                text.textContent = attn.fixed(p, 3);
                text.dataset.value = String(p);
            });
        }
    }

    attn.card = (sentence, which, view) => new Card(sentence, which, view);
}
