// The film of a training run: curves of loss and accuracy, and the attention of a few sentences, over the epochs.
'use strict';
{
    attn.words({
        en: {
            title: (words) => `How a model learned "${words}"`,
            said: 'Move the slider or press play: each picture is the model after one pass over its training sentences, and the first is the model before any.',
            epoch: 'Epoch',
            epochOf: (epoch, last) => `epoch ${epoch} of ${last}`,
            untrained: 'before training',
            play: 'Play',
            pause: 'Pause',
            loss: 'Loss in training (nats)',
            accuracy: 'Right answers',
            accuracyName: (n) => `${n} training sentences`,
            devMicro: 'other sentences (dev)',
            devMacro: 'the same, macro F1',
            lossName: 'training loss',
            headRow: (h) => `head ${h}`,
            meanRow: 'all heads',
            darker: 'Weight of each word for the word in question; darker is more. Below, all epochs at once, from top to bottom, mean of the heads.',
            history: (word) => `Weights over all epochs of ${word}`,
            thinned: (step) => `The run was long: every ${step}th picture is kept, and the last.`,
            scale: 'attention weight',
        },
        'zh-Hans': {
            title: (words) => `模型怎样学会「${words}」`,
            said: '拖动滑块或按播放：每一帧是模型把训练句子又学过一遍之后的样子，第一帧是训练之前的样子。',
            epoch: '轮次',
            epochOf: (epoch, last) => `第 ${epoch} 轮，共 ${last} 轮`,
            untrained: '训练前',
            play: '播放',
            pause: '暂停',
            loss: '训练损失（奈特）',
            accuracy: '答对的比例',
            accuracyName: (n) => `${n} 个训练句子`,
            devMicro: '其他句子（开发集）',
            devMacro: '同上，宏平均 F1',
            lossName: '训练损失',
            headRow: (h) => `头 ${h}`,
            meanRow: '各头平均',
            darker: '被问的词分给每个词的权重，颜色越深越大。下方是全部轮次，从上到下，各头平均。',
            history: (word) => `「${word}」各轮的权重`,
            thinned: (step) => `训练很长：每 ${step} 帧保留一帧，另加最后一帧。`,
            scale: '注意力权重',
        },
    });

    const {data} = attn;
    const scale = attn.scale(data.colors, 0, 1);
    const frames = data.epochs.length;
    const range = (n) => Array.from({length: n}, (_, i) => i);

    // ---- curves ----

    const WIDTH = 520;
    const HEIGHT = 236;
    const LEFT = 44;
    const RIGHT = 12;
    const TOP = 10;
    const BOTTOM = 44; // numbers of epochs, and what they are

    // A round step that gives about `n` of them.
    const niceStep = (span, n) => {
        const raw = span / n;
        const power = 10 ** Math.floor(Math.log10(raw));
        return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= raw * 0.999);
    };

    // `lines`: {name, values, kind}; values may hold null. `most`: the upper end, null: by the values.
    class Chart {
        constructor(title, lines, most, seek) {
            this.lines = lines.filter(({values}) => values.some((v) => v !== null));
            this.most = most ?? Math.max(...this.lines.flatMap(({values}) => values.filter((v) => v !== null))) * 1.05;
            this.first = data.epochs[0];
            this.last = Math.max(data.epochs.at(-1), this.first + 1);
            this.cursor = attn.svg('line', {class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM});
            this.dots = this.lines.map(({kind}) => attn.svg('circle', {class: `dot-${kind}`, r: 4}));
            this.svg = attn.svg('svg', {class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title},
                this.axes(), this.lines.map((line) => this.path(line)), this.cursor, this.dots);
            this.values = this.lines.map(() => attn.element('output', {}));
            this.element = attn.element('figure', {class: 'chart-box'}, attn.element('figcaption', {}, title), this.svg,
                attn.element('p', {class: 'chart-legend'}, this.lines.map(({name, kind}, i) => attn.element('span', {},
                    attn.element('i', {class: `key key-${kind}`}), `${name} `, this.values[i]))));
            const move = (event) => {
                const box = this.svg.getBoundingClientRect();
                const epoch = this.first + (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * (this.last - this.first);
                const distance = (i) => Math.abs(data.epochs[i] - epoch);
                seek(range(frames).reduce((best, i) => (distance(i) < distance(best) ? i : best)));
            };
            this.svg.addEventListener('pointerdown', move);
            this.svg.addEventListener('pointermove', (event) => {
                if (event.buttons) {
                    move(event);
                }
            });
        }

        x(epoch) {
            return LEFT + ((epoch - this.first) / (this.last - this.first)) * (WIDTH - LEFT - RIGHT);
        }

        y(v) {
            return HEIGHT - BOTTOM - (v / this.most) * (HEIGHT - BOTTOM - TOP);
        }

        axes() {
            const yStep = niceStep(this.most, 4);
            const xStep = Math.max(1, niceStep(this.last - this.first, 6));
            const ys = range(Math.floor(this.most / yStep + 1e-9) + 1).map((i) => i * yStep);
            const xs = range(Math.floor((this.last - this.first) / xStep) + 1).map((i) => this.first + i * xStep);
            return [...ys.flatMap((v) => [
                attn.svg('line', {class: 'rule', x1: LEFT, x2: WIDTH - RIGHT, y1: this.y(v), y2: this.y(v)}),
                attn.svg('text', {x: LEFT - 6, y: this.y(v) + 4, 'text-anchor': 'end'}, attn.short(v)),
            ]), ...xs.map((epoch) => attn.svg('text', {x: this.x(epoch), y: HEIGHT - 26, 'text-anchor': 'middle'}, attn.short(epoch))),
            attn.svg('text', {x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, 'text-anchor': 'middle'}, attn.say('epoch'))];
        }

        path({values, kind}) {
            const points = values.flatMap((v, i) => (v === null ? [] : [`${this.x(data.epochs[i]).toFixed(1)},${this.y(v).toFixed(1)}`]));
            return attn.svg('polyline', {class: `line line-${kind}`, points: points.join(' ')});
        }

        show(frame) {
            const x = this.x(data.epochs[frame]);
            this.cursor.setAttribute('x1', x);
            this.cursor.setAttribute('x2', x);
            this.lines.forEach(({values}, i) => {
                const v = values[frame];
                this.dots[i].toggleAttribute('hidden', v === null);
                this.dots[i].setAttribute('cx', x);
                this.dots[i].setAttribute('cy', v === null ? 0 : this.y(v));
                this.values[i].textContent = v === null ? '–' : attn.fixed(v, 3);
            });
        }
    }

    // ---- one sentence ----

    class Clip {
        constructor(clip) {
            Object.assign(this, clip, {shown: clip.words.slice(clip.begin, clip.begin + clip.count)});
            this.weights = attn.numbers(clip.weights, 'f32');
            this.probabilities = attn.numbers(clip.probabilities, 'f64');
            this.target = clip.target - clip.begin;
            const names = [...(this.heads > 1 ? [attn.say('meanRow')] : []), ...range(this.heads).map((h) => attn.say('headRow', h))];
            this.cells = names.map(() => this.shown.map(() => attn.element('td', {})));
            this.bars = this.senses.map((sense) => this.bar(sense));
            this.mark = attn.element('div', {class: 'history-mark'});
            this.element = attn.element('article', {class: 'mix-card'}, attn.element('h3', {}, this.words.flatMap((word, i) => [
                i > 0 ? ' ' : '', i === clip.target ? attn.element('strong', {class: 'target'}, attn.word(word)) : attn.word(word)])),
            attn.element('div', {class: 'mix-senses'}, this.bars.map(({element}) => element)),
            attn.element('div', {class: 'scroll'}, this.table(names)));
        }

        table(names) {
            const history = attn.element('td', {colspan: this.count, class: 'history-cell'}, attn.element('div', {class: 'history'}, this.history(), this.mark));
            return attn.element('table', {class: 'film-table'},
                attn.element('thead', {}, attn.element('tr', {}, attn.element('td', {}), this.shown.map((word, j) =>
                    attn.element('th', {scope: 'col', class: j === this.target ? 'own' : null}, attn.word(word))))),
                attn.element('tbody', {}, names.map((name, i) => attn.element('tr', {}, attn.element('th', {scope: 'row'}, name), this.cells[i]))),
                attn.element('tfoot', {}, attn.element('tr', {}, attn.element('th', {scope: 'row'}, attn.say('epoch')), history)));
        }

        bar(sense) {
            const fill = attn.element('i', {class: 'sense-fill'});
            const text = attn.element('output', {});
            const element = attn.element('div', {class: 'sense'}, attn.element('span', {class: 'sense-name'}, attn.word(sense)),
                attn.element('span', {class: 'sense-bar'}, fill), text);
            return {fill, text, element};
        }

        weight(frame, head, j) {
            return this.weights[(frame * this.heads + head) * this.count + j];
        }

        mean(frame, j) {
            return range(this.heads).reduce((sum, h) => sum + this.weight(frame, h, j), 0) / this.heads;
        }

        // A pixel a word and picture.
        history() {
            const canvas = attn.element('canvas', {width: this.count, height: frames, role: 'img',
                'aria-label': attn.say('history', this.words[this.target + this.begin])});
            const context = canvas.getContext('2d');
            for (let frame = 0; frame < frames; frame++) {
                for (let j = 0; j < this.count; j++) {
                    context.fillStyle = scale.color(this.mean(frame, j));
                    context.fillRect(j, frame, 1, 1);
                }
            }
            return canvas;
        }

        show(frame) {
            this.cells.forEach((cells, i) => cells.forEach((cell, j) => {
                const head = this.heads > 1 ? i - 1 : i;
                const value = head < 0 ? this.mean(frame, j) : this.weight(frame, head, j);
                cell.style.backgroundColor = scale.color(value);
                cell.style.color = scale.ink(value);
                cell.textContent = attn.fixed(value, 2);
                cell.dataset.value = String(value);
            }));
            this.bars.forEach(({fill, text}, s) => {
                const p = this.probabilities[frame * this.senses.length + s];
                fill.style.width = `${100 * p}%`;
                text.textContent = attn.fixed(p, 3);
                text.dataset.value = String(p);
            });
            this.mark.style.top = `${(100 * (frame + 0.5)) / frames}%`;
        }
    }

    // ---- going through it ----

    const FILM = 9000; // milliseconds for all of it, but none of a picture shorter than
    const SHORTEST = 50;

    const slider = attn.element('input', {type: 'range', min: 0, max: frames - 1, step: 1, value: 0, 'aria-label': attn.say('epoch')});
    const said = attn.element('output', {class: 'film-epoch'});
    const play = attn.element('button', {type: 'button', class: 'film-play'});
    let frame = frames - 1;
    let timer = null;

    const charts = [
        new Chart(attn.say('loss'), [{name: attn.say('lossName'), values: data.loss, kind: 'a'}], null, (i) => seek(i)),
        new Chart(attn.say('accuracy'), [
            {name: attn.say('accuracyName', data.sample), values: data.accuracy, kind: 'a'},
            {name: attn.say('devMicro'), values: data.devMicro, kind: 'b'},
            {name: attn.say('devMacro'), values: data.devMacro, kind: 'c'}], 1, (i) => seek(i)),
    ].filter(({lines}) => lines.length > 0);
    const clips = data.sentences.map((clip) => new Clip(clip));

    const show = () => {
        const epoch = data.epochs[frame];
        slider.value = String(frame);
        said.textContent = epoch === 0 ? attn.say('untrained') : attn.say('epochOf', epoch, data.epochs.at(-1));
        slider.setAttribute('aria-valuetext', said.textContent);
        [...charts, ...clips].forEach((part) => part.show(frame));
    };

    const stop = () => {
        clearInterval(timer);
        timer = null;
        play.textContent = attn.say('play');
        play.setAttribute('aria-pressed', 'false');
    };

    const seek = (i) => {
        stop();
        frame = i;
        show();
    };

    const start = () => {
        frame = frame === frames - 1 ? 0 : frame;
        show();
        play.textContent = attn.say('pause');
        play.setAttribute('aria-pressed', 'true');
        timer = setInterval(() => {
            frame++;
            show();
            if (frame === frames - 1) {
                stop();
            }
        }, Math.max(SHORTEST, FILM / frames));
    };

    slider.addEventListener('input', () => seek(Number(slider.value)));
    play.addEventListener('click', () => (timer === null ? start() : stop()));

    const words = [...new Set(data.sentences.map((clip) => clip.words[clip.target]))].join(', ');
    attn.page(data.title ?? attn.say('title', words),
        attn.element('p', {}, attn.say('said')),
        attn.element('div', {class: 'film-bar screen-only'}, play, slider, said),
        attn.element('div', {class: 'charts'}, charts.map(({element}) => element)),
        attn.colorBar(scale, attn.say('scale')),
        attn.element('p', {class: 'quiet'}, attn.say('darker'), data.step > 1 ? ` ${attn.say('thinned', data.step)}` : ''),
        attn.element('div', {class: clips.some(({count}) => count > 8) ? 'mix-cards wide' : 'mix-cards'}, clips.map(({element}) => element)));
    stop();
    show();
}
