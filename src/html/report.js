// The page of attn report: the sentences as mixtures, as tables and in steps; attn explain shows the steps alone.
'use strict';
{
    attn.words({
        en: {
            reportTitle: (words, n) => [`"${words}" in ${n === 1 ? 'a sentence' : `${n} sentences`}`],
            explainTitle: (word) => [`How the model reads "${word}"`],
            mixing: 'Words mixed like colours',
            mixingSaid: 'One word, one fixed vector is not enough: next to other words it means something else. So the model makes a new vector ' +
                'for it: the average of the vectors of its sentence, by weights that it has learned. Here each word is a colour. Move the weights.',
            mixingNote: 'The same word has the same colour in every sentence; the word in question is grey, since alone it has no sense yet. ' +
                'Colours mix like light. They are a picture only: the probabilities of the senses are computed from the model\'s own numbers.',
            steps: 'Step by step, with every number',
            stepsSaid: 'Score, scale, softmax, weighted sum: how this model gets the weights and what it does with them.',
            sentence: 'Sentence',
            head: 'Head',
            member: 'Member',
            all: 'all',
            state: 'Model',
            after: 'after training',
            before: 'before training',
        },
        'zh-Hans': {
            reportTitle: (words, n) => [`「${words}」在 ${n} 个句子里`],
            explainTitle: (word) => [`模型怎样读「${word}」`],
            mixing: '把词当作颜色来混合',
            mixingSaid: '一个词只有一个固定向量是不够的：换了邻居，意思就变了。所以模型为它造一个新向量：把句中各词的向量按学到的权重求平均。' +
                '这里每个词是一种颜色，移动滑块就是改变权重。',
            mixingNote: '同一个词在各句里颜色相同；被问的词是灰色，因为单独看它还没有确定的意思。颜色像光一样混合，只是图示：词义的概率由模型自己的数算出。',
            steps: '一步一步，所有的数',
            stepsSaid: '打分、缩放、softmax、加权求和：这个模型怎样得到权重，又怎样用它们。',
            sentence: '句子',
            head: '头',
            member: '成员',
            all: '全部',
            state: '模型',
            after: '训练后',
            before: '训练前',
        },
    });

    const {data} = attn;
    const [{runs: [first]}] = attn.sentences;
    const state = {which: 0, sentence: 0, step: 0, head: data.head, member: data.member, mixHead: 'all', mixMember: 'all'};

    // ---- choices ----

    // A choice that sets state[key] and shows `where` anew; null if there is nothing to choose.
    const choice = (label, key, options, show) => (options.length < 2 ? null : attn.choice(attn.say(label), options, state[key], (value) => {
        state[key] = value;
        show();
    }));

    const numbered = (n) => attn.range(n).map((i) => [i, String(i)]);
    const withAll = (n) => (n > 1 ? [['all', attn.say('all')], ...numbered(n)] : []);

    const whichModel = () => (first === attn.sentences[0].runs.at(-1) ? []
        : [[0, attn.say('after')], [1, data.beforeName ?? attn.say('before')]]);

    // "1 … peeled the bark from a …": the word and its neighbours.
    const shortName = ({words, target}, i) => {
        const near = words.slice(Math.max(0, target - 2), target + 3).join(' ');
        return [i, `${i + 1} ${target > 2 ? '… ' : ''}${near}${target + 3 < words.length ? ' …' : ''}`];
    };

    const clampTo = (run) => {
        state.head = Math.min(state.head, run.heads - 1);
        state.member = Math.min(state.member, run.members.length - 1);
    };

    // The sentence, with the word in question marked, and what the model says.
    const sentenceLine = ({words, target}, run) => attn.element('p', {class: 'step-sentence'},
        words.flatMap((word, i) => [i > 0 ? ' ' : '', i === target ? attn.element('mark', {}, attn.word(word)) : attn.word(word)]),
        attn.element('span', {class: 'quiet'}, run.senses.flatMap((sense, s) => [s > 0 ? ', ' : ' — ', attn.word(sense),
            ` ${attn.fixed(run.probabilities[s], 3)}`])));

    // ---- sections ----

    const section = (name, ...content) => attn.element('section', {class: name, 'data-section': name}, content);

    const mixing = () => {
        const cards = attn.element('div', {class: 'mix-cards'});
        const controls = attn.element('div', {class: 'controls screen-only'});
        const show = () => {
            const run = attn.sentences[0].runs[state.which];
            controls.replaceChildren(...[
                choice('state', 'which', whichModel(), showAll),
                choice('member', 'mixMember', withAll(run.members.length), show),
                choice('head', 'mixHead', withAll(run.heads), show)].filter(Boolean));
            const view = {member: run.members.length > 1 ? state.mixMember : 'all', head: run.heads > 1 ? state.mixHead : 'all'};
            cards.replaceChildren(...attn.sentences.map((sentence) => attn.card(sentence, state.which, view).element));
        };
        return {show, element: section('mixing', attn.element('h2', {}, attn.say('mixing')), attn.element('p', {}, attn.say('mixingSaid')),
            controls, cards, attn.element('p', {class: 'quiet'}, attn.say('mixingNote')))};
    };

    const steps = () => {
        const controls = attn.element('div', {class: 'controls screen-only'});
        const body = attn.element('div', {});
        const show = () => {
            const sentence = attn.sentences[state.sentence];
            const run = sentence.runs[state.which];
            clampTo(run);
            controls.replaceChildren(...[
                choice('sentence', 'sentence', attn.sentences.map(shortName), show),
                choice('member', 'member', numbered(run.members.length), show),
                choice('head', 'head', numbered(run.heads), show)].filter(Boolean));
            body.replaceChildren(sentenceLine(sentence, run), attn.stepper(run, state.member, state.head, state));
        };
        return {show, element: section('steps', attn.element('h2', {}, attn.say('steps')), attn.element('p', {}, attn.say('stepsSaid')),
            controls, body)};
    };

    const tables = () => {
        const {show, content} = attn.tables(whichModel().length > 0 ? whichModel() : [[0, attn.say('after')]]);
        return {show, element: section('tables', ...content)};
    };

    // ---- the page ----

    const parts = data.stepsOnly ? [steps()] : [mixing(), tables(), steps()];
    const showAll = () => parts.forEach(({show}) => show());
    const targets = [...new Set(attn.sentences.map(({words, target}) => words[target]))].join(', ');
    const title = data.title ?? (data.stepsOnly ? attn.say('explainTitle', targets) : attn.say('reportTitle', targets, attn.sentences.length))[0];
    attn.page(title, ...parts.map(({element}) => element));
    showAll();
    attn.report = {state, sentences: attn.sentences};
}
