// The stepper: one head of one model on one sentence, from query and keys to the senses, one step at a time, with every number.
'use strict';
{
    attn.words({
        en: {
            stepNames: ['Query, keys', 'Score', 'Scale', 'Position', 'Softmax', 'Weighted sum', 'Senses'],
            step: 'Step',
            previous: 'Previous step',
            next: 'Next step',
            queryKeys: (word) => ['Each word has a learned vector x. The word in question, ', word, ', asks with its query q; every word offers a key k.'],
            scoreDot: (word) => ['How well does a key answer the query of ', word, '? Multiply component by component and add up.'],
            scoreAdditive: (word) => ['How well does a key answer the query of ', word, '? Add both, squash with tanh, weigh with the learned w, add up.'],
            scaled: (d) => [`The wider the vectors, the larger their products, and softmax would give all to one word. So divide by √${d}.`],
            notScaled: (score) => [`${score} scores are not scaled: this step changes nothing.`],
            position: (word) => ['For each distance from ', word, ' the model has learned a number, which is added.'],
            noPosition: () => ['This model knows no positions: this step changes nothing.'],
            softmax: () => ['Scores of any sign become shares: exp(score) makes them positive, dividing by their sum makes them add up to 1. ' +
                'The largest score is subtracted first, which changes no share.'],
            mix: (word) => ['Each word also has a value v. The new vector of ', word, ' is the sum of the values, each times its weight.'],
            sensesStep: () => ['The new vectors of all heads, times the matrix W, say something for each sense; bias and prior (how often training ' +
                'saw the sense) are added; softmax makes probabilities of it.'],
            neighboursStep: () => ['Neighbours are added too: what each word says by having stood near the word in question in training, whatever its weight.'],
            neighbours: 'neighbours',
            word: 'word',
            distance: 'distance',
            query: 'query q',
            score: 'score',
            sumRow: 'sum',
            maxRow: 'largest',
            weight: 'weight',
            positionColumn: 'position',
            newVector: 'new vector',
            values: 'Values v',
            weighted: 'Weight · value',
            products: 'Products',
            squashed: 'tanh(q + k)',
            sense: 'sense',
            bias: 'bias',
            prior: 'prior',
            logit: 'logit',
            probability: 'probability',
            headColumn: (h) => `head ${h}`,
            headMatrix: (h) => `Head ${h}: its new vector and the matrix W`,
            unknown: 'not in the vocabulary: all such words share one vector',
            ensemble: (n, list) => `The prediction is the mean over ${n} models: ${list}`,
        },
        'zh-Hans': {
            stepNames: ['查询与键', '打分', '缩放', '位置', 'softmax', '加权求和', '词义'],
            step: '步骤',
            previous: '上一步',
            next: '下一步',
            queryKeys: (word) => ['每个词都有一个学到的向量 x。被问的词「', word, '」用查询 q 提问，每个词用键 k 应答。'],
            scoreDot: (word) => ['一个键与「', word, '」的查询有多相配？逐个分量相乘，再相加。'],
            scoreAdditive: (word) => ['一个键与「', word, '」的查询有多相配？两者相加，用 tanh 压缩，乘上学到的 w，再相加。'],
            scaled: (d) => [`向量越宽，点积越大，softmax 就会把注意力全给一个词，所以除以 √${d}。`],
            notScaled: (score) => [`${score} 打分不缩放：这一步什么也不改变。`],
            position: (word) => ['模型为到「', word, '」的每个距离学了一个数，加到分数上。'],
            noPosition: () => ['这个模型不用位置：这一步什么也不改变。'],
            softmax: () => ['softmax 把正负皆可的分数变成份额：exp(分数) 使它们为正，再除以总和使它们加起来等于 1。先减去最大的分数，份额不变。'],
            mix: (word) => ['每个词还有一个值 v。「', word, '」的新向量就是各词的值乘以权重后的总和。'],
            sensesStep: () => ['各头的新向量乘以矩阵 W，就是对每个词义的支持；加上偏置和先验（训练中见过这个词义的次数），再由 softmax 变成概率。'],
            neighboursStep: () => ['还加上「邻词」：训练时一个词常出现在哪个词义的句子里，这本身就说明词义，与权重无关。'],
            neighbours: '邻词',
            word: '词',
            distance: '距离',
            query: '查询 q',
            score: '分数',
            sumRow: '总和',
            maxRow: '最大',
            weight: '权重',
            positionColumn: '位置',
            newVector: '新向量',
            values: '值 v',
            weighted: '权重 · 值',
            products: '乘积',
            squashed: 'tanh(q + k)',
            sense: '词义',
            bias: '偏置',
            prior: '先验',
            logit: '对数几率',
            probability: '概率',
            headColumn: (h) => `头 ${h}`,
            headMatrix: (h) => `头 ${h}：它的新向量与矩阵 W`,
            unknown: '词表里没有这个词：这样的词共用一个向量',
            ensemble: (n, list) => `最终判断是 ${n} 个模型的平均：${list}`,
        },
    });

    const DIGITS = 4;

    // A formula; W_q has its q below the line.
    const formula = (text) => attn.element('span', {class: 'math'}, text.split(/_(\w)/).map((part, i) =>
        (i % 2 === 1 ? attn.element('sub', {}, part) : part)));

    // ---- tables ----

    const cell = (value) => attn.element('td', {'data-value': String(value)}, attn.fixed(value, DIGITS));
    const blank = () => attn.element('td', {});
    const row = (head, cells, attributes = {}) => attn.element('tr', attributes, attn.element('th', {scope: 'row'}, head), cells);

    const table = (name, heads, rows) => attn.element('div', {class: 'scroll'}, attn.element('table', {class: 'numbers', 'data-table': name},
        attn.element('thead', {}, attn.element('tr', {}, heads.map((text) => attn.element('th', {scope: 'col'}, text)))),
        attn.element('tbody', {}, rows)));

    // Cells of vectors are tinted by sign and size, all of a table on one scale: the pattern is seen before the numbers are read.
    const tinted = (most) => (value) => {
        const td = cell(value);
        if (most > 0) {
            const part = Math.min(Math.abs(value) / most, 1);
            td.className = value < 0 ? 'minus' : 'plus';
            td.style.setProperty('--part', `${Math.round(55 * part)}%`);
        }
        return td;
    };
    const mostOf = (...arrays) => Math.max(...arrays.map((x) => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0)));

    // A row of the array (rows,width).
    const part = (array, width, i) => Array.from(array.subarray(i * width, (i + 1) * width));

    // ---- the steps: each gives [what is said, formula, tables] ----

    class Steps {
        constructor(run, member, head) {
            Object.assign(this, {run, memberNumber: member, headNumber: head, member: run.members[member], head: run.members[member].heads[head]});
            this.additive = 'w' in this.head;
            this.all = [this.queryKeys, this.score, this.scale, this.position, this.softmax, this.mix, this.senses];
        }

        word(j) {
            const name = [attn.word(this.run.words[j])];
            if (!this.run.known[j]) {
                name.push(attn.element('abbr', {title: attn.say('unknown'), class: 'unknown'}, '?'));
            }
            return name;
        }

        target() {
            return attn.word(this.run.words[this.run.target]);
        }

        each(fn) {
            return attn.range(this.run.count).map(fn);
        }

        rows(columns) {
            return this.each((j) => row(this.word(j), columns(j), j === this.run.target ? {class: 'own'} : {}));
        }

        distance(j) {
            const d = j - this.run.target;
            return attn.element('td', {}, d > 0 ? `+${d}` : String(d).replace('-', '−'));
        }

        components(n) {
            return attn.range(n).map(String);
        }

        vectorTable(name, corner, array, width, before = [], after = []) {
            const tint = tinted(mostOf(array, ...before.map(([, x]) => x), ...after.map(([, x]) => x)));
            const lines = (list, kind) => list.map(([head, x]) => row(head, Array.from(x, tint), {class: kind}));
            return table(name, [corner, ...this.components(width)], [
                ...lines(before, 'first'),
                ...this.rows((j) => part(array, width, j).map(tint)),
                ...lines(after, 'total'),
            ]);
        }

        queryKeys() {
            const {head, run} = this;
            return [attn.say('queryKeys', this.target()), 'q = x W_q    k = x W_k', [
                this.vectorTable('keys', attn.say('word'), head.keys, run.d, [[attn.say('query'), head.query]])]];
        }

        score() {
            const {head, run} = this;
            const squashed = this.additive ? head.keys.map((k, i) => Math.tanh(head.query[i % run.d] + k)) : null;
            const products = Float64Array.from(head.keys, (k, i) =>
                (this.additive ? head.w[i % run.d] * squashed[i] : head.query[i % run.d] * k));
            const tint = tinted(mostOf(products));
            const scores = table('score', [attn.say('word'), `Σ = ${attn.say('score')}`, ...this.components(run.d)],
                this.rows((j) => [cell(head.raw[j]), ...part(products, run.d, j).map(tint)]));
            const text = this.additive ? 'w · tanh(q + k) = Σ w[c] tanh(q[c] + k[c])' : 'q · k = Σ q[c] k[c]';
            const squash = this.additive ? [attn.element('h4', {}, attn.say('squashed')),
                this.vectorTable('squashed', attn.say('word'), squashed, run.d, [['w', head.w]])] : [];
            return [attn.say(this.additive ? 'scoreAdditive' : 'scoreDot', this.target()), text,
                [...squash, attn.element('h4', {}, attn.say('products')), scores]];
        }

        scale() {
            const {head, run} = this;
            const scaled = run.score === 'scaled-dot';
            const heads = scaled ? ['q · k', `/ √${run.d}`] : [attn.say('score')];
            return [scaled ? attn.say('scaled', run.d) : attn.say('notScaled', run.score),
                scaled ? `q · k / √${run.d} = q · k / ${attn.fixed(Math.sqrt(run.d), DIGITS)}` : '× 1',
                [table('scale', [attn.say('word'), ...heads], this.rows((j) => (scaled ? [cell(head.raw[j]), cell(head.scaled[j])]
                    : [cell(head.scaled[j])])))]];
        }

        position() {
            const {head} = this;
            if (!head.position) {
                return [attn.say('noPosition'), '+ 0', [table('position', [attn.say('word'), attn.say('score')],
                    this.rows((j) => [cell(head.scores[j])]))]];
            }
            return [attn.say('position', this.target()), 'score + b[distance]', [
                table('position', [attn.say('word'), attn.say('distance'), attn.say('score'), `+ ${attn.say('positionColumn')}`, '='],
                    this.rows((j) => [this.distance(j), cell(head.scaled[j]), cell(head.position[j]), cell(head.scores[j])]))]];
        }

        softmax() {
            const {head} = this;
            const max = Math.max(...head.scores);
            const exps = Array.from(head.scores, (s) => Math.exp(s - max));
            const bar = (w) => {
                const fill = attn.element('i', {class: 'sense-fill'});
                fill.style.width = `${100 * w}%`;
                return attn.element('td', {class: 'bar-cell'}, attn.element('span', {class: 'sense-bar'}, fill));
            };
            const heads = [attn.say('word'), attn.say('score'), 'exp(score − max)', `/ Σ = ${attn.say('weight')}`, ''];
            return [attn.say('softmax'), 'weight = exp(score) / Σ exp(score)', [table('softmax', heads, [
                ...this.rows((j) => [cell(head.scores[j]), cell(exps[j]), cell(head.weights[j]), bar(head.weights[j])]),
                row(attn.say('sumRow'), [blank(), cell(attn.sum(exps)), cell(attn.sum([...head.weights])), blank()], {class: 'total'})])]];
        }

        mix() {
            const {head, run} = this;
            const weighted = Float64Array.from(head.values, (v, i) => head.weights[Math.floor(i / run.dv)] * v);
            return [attn.say('mix', this.target()), 'v = x W_v    Σ weight · v', [
                attn.element('h4', {}, attn.say('weighted')),
                this.vectorTable('weighted', attn.say('word'), weighted, run.dv, [], [[`Σ = ${attn.say('newVector')}`, head.mixed]]),
                attn.element('h4', {}, attn.say('values')),
                this.vectorTable('values', attn.say('word'), head.values, run.dv)]];
        }

        senses() {
            const {head, member, run, headNumber} = this;
            const parts = member.heads.map((h) => run.part(h, h.mixed));
            const max = Math.max(...member.logits);
            const heads = [attn.say('sense'), ...member.heads.map((_, h) => attn.say('headColumn', h)), `+ ${attn.say('bias')}`,
                `+ ${attn.say('prior')}`, ...(run.neighbours ? [`+ ${attn.say('neighbours')}`] : []), `= ${attn.say('logit')}`, 'exp(logit − max)',
                attn.say('probability')];
            const lines = run.senses.map((sense, s) => row(attn.word(sense), [...parts.map((p) => cell(p[s])), cell(member.bias[s]),
                cell(member.prior[s]), ...(run.neighbours ? [cell(run.counted[s])] : []), cell(member.logits[s]), cell(Math.exp(member.logits[s] - max)), cell(member.probabilities[s])]));
            const column = (s) => Array.from({length: run.dv}, (_, c) => head.matrix[c * run.senses.length + s]);
            const tint = tinted(mostOf(head.mixed, head.matrix));
            const matrix = table('matrix', ['', 'Σ', ...this.components(run.dv)], [
                row(attn.say('newVector'), [blank(), ...Array.from(head.mixed, tint)], {class: 'first'}),
                ...run.senses.map((sense, s) => row(attn.word(sense), [cell(parts[headNumber][s]), ...column(s).map(tint)]))]);
            return [[...attn.say('sensesStep'), ...(run.neighbours ? [' ', ...attn.say('neighboursStep')] : [])],
                `logit = Σ new vector · W + bias + prior${run.neighbours ? ' + neighbours' : ''}`, [table('senses', heads, lines),
                    this.ensemble(), ...this.neighbours(), attn.element('h4', {}, attn.say('headMatrix', headNumber)), matrix].filter(Boolean)];
        }

        // What each word says for each sense whatever its weight.
        neighbours() {
            const {run} = this;
            const tint = run.neighbours ? tinted(mostOf(run.neighbours)) : null;
            const lines = tint ? [...this.rows((j) => part(run.neighbours, run.senses.length, j).map(tint)),
                row(attn.say('sumRow'), run.counted.map(cell), {class: 'total'})] : [];
            return tint ? [attn.element('h4', {}, attn.say('neighbours')),
                table('neighbours', [attn.say('word'), ...run.senses.map((sense) => attn.word(sense))], lines)] : [];
        }

        ensemble() {
            const {run} = this;
            const list = run.senses.map((sense, s) => `${sense} ${attn.fixed(run.probabilities[s], DIGITS)}`).join(', ');
            return run.members.length > 1 ? attn.element('p', {}, attn.say('ensemble', run.members.length, list)) : null;
        }
    }

    // ---- going through them ----

    // `state.step` is kept by the page, so that another head or sentence shows the same step.
    attn.stepper = (run, member, head, state) => {
        const steps = new Steps(run, member, head);
        const names = attn.say('stepNames');
        const body = attn.element('div', {class: 'step-body', 'aria-live': 'polite'});
        const button = (key, by) => {
            const node = attn.element('button', {type: 'button'}, by < 0 ? '←' : '→', attn.element('span', {class: 'unseen'}, attn.say(key)));
            node.addEventListener('click', () => go(state.step + by));
            return node;
        };
        const buttons = [button('previous', -1), button('next', 1)];
        const strip = attn.choice(attn.say('step'), names.map((name, i) => [i, `${i + 1} ${name}`]), state.step, (i) => go(i));
        const go = (i) => {
            state.step = Math.min(Math.max(i, 0), names.length - 1);
            const [said, text, tables] = steps.all[state.step].call(steps);
            body.replaceChildren(attn.element('p', {class: 'step-said'}, said), attn.element('p', {class: 'formula'}, formula(text)), ...tables);
            buttons[0].disabled = state.step === 0;
            buttons[1].disabled = state.step === names.length - 1;
            strip.querySelectorAll('input')[state.step].checked = true;
        };
        go(state.step);
        return attn.element('div', {class: 'stepper'}, attn.element('div', {class: 'step-bar'}, strip, attn.element('span', {class: 'step-buttons'}, buttons)),
            body);
    };
}
