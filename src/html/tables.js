// Who attends to whom, of all words of every sentence: as the model is, as it was before, and the difference.
'use strict';
{
    attn.words({
        en: {
            rowTitle: 'query: who looks',
            columnTitle: 'key: looked at',
            tables: 'Who attends to whom',
            tablesSaid: 'Each word of a sentence has weights of its own: a row is the word that looks, a column the word looked at, darker is more. ' +
                'Each row sums to 1, apart from rounding. Point at a cell to read it, click to keep it, move with the arrow keys.',
            differenceSaid: 'Weight after training minus weight before: red got more, blue got less, and each row sums to 0.',
            shown: 'Weights',
            difference: 'difference',
            headMean: 'mean',
            weightTitle: 'attention weight',
        },
        'zh-Hans': {
            rowTitle: '查询：谁在看',
            columnTitle: '键：被看的词',
            tables: '谁在看谁',
            tablesSaid: '句中每个词都有自己的一组权重：一行是在看的词，一列是被看的词，颜色越深，分得越多。每行之和为 1（四舍五入除外）。' +
                '指向一个格子可读出它，点击固定，方向键移动。',
            differenceSaid: '训练后的权重减去训练前的权重：红色变多，蓝色变少，每行之和为 0。',
            shown: '权重',
            difference: '差',
            headMean: '平均',
            weightTitle: '注意力权重',
        },
    });

    const {data} = attn;
    const SIDE = 64; // more words than this are drawn on a canvas

    attn.rowTitle = attn.say('rowTitle');
    attn.columnTitle = attn.say('columnTitle');

    // Weights (L,L) of a head of a run, or their mean.
    const weightsOf = (run, head) => {
        run.tables ??= run.table.map((packed) => attn.numbers(packed, 'f32'));
        const heads = head === 'mean' ? run.tables : [run.tables[head]];
        return Float64Array.from(heads[0], (_, i) => attn.sum(heads.map((values) => values[i])) / heads.length);
    };

    // What is shown of a sentence, as matrix.js wants it. `which` is the number of a run, or 'difference'.
    const shownOf = ({words, runs}, which) => ({
        title: null,
        rows: words,
        columns: words,
        head(h) {
            if (which !== 'difference') {
                return {values: weightsOf(runs[which], h), hidden: null};
            }
            const [after, before] = runs.map((run) => weightsOf(run, h));
            return {values: after.map((v, i) => v - before[i]), hidden: null};
        },
    });

    // Colours and words for what is shown: weights from 0 to 1, differences as far as the largest of them.
    const prepare = (which, heads, matrices) => {
        const difference = which === 'difference';
        const largest = matrices.reduce((all, {values}) => values.reduce((most, v) => Math.max(most, Math.abs(v)), all), 0);
        const most = Math.max(Math.ceil(largest * 20), 1) / 20; // a round number
        Object.assign(data, {heads, digits: 2, vmin: difference ? -most : 0, vmax: difference ? most : 1,
            barTitle: difference ? attn.say('difference') : null});
        attn.colors = attn.scale(difference ? data.differenceColors : data.colors, data.vmin, data.vmax, difference);
    };

    // `runs`: [number, name] of those that can be chosen.
    attn.tables = (runs) => {
        const controls = attn.element('div', {class: 'controls screen-only'});
        const legend = attn.element('div', {class: 'legend'});
        const list = attn.element('div', {class: 'panels'});
        const said = attn.element('p', {});
        const state = {which: 0, head: 'mean'};
        let panels = [];
        const heads = (which) => attn.sentences[0].runs[which === 'difference' ? 0 : which].heads;
        const comparable = runs.length > 1 && heads(0) === heads(1);
        const options = [...runs, ...(comparable ? [['difference', attn.say('difference')]] : [])];

        const choice = (label, key, values) => (values.length < 2 ? null : attn.choice(attn.say(label), values, state[key], (value) => {
            state[key] = value;
            show();
        }));

        const resize = () => attn.resizePanels(panels, list);

        const show = () => {
            const n = heads(state.which);
            state.head = state.head !== 'mean' && state.head >= n ? 'mean' : state.head;
            const matrices = attn.sentences.map((sentence) => attn.matrix(shownOf(sentence, state.which), n > 1 ? state.head : 0));
            attn.unlock();
            attn.tip.hide();
            prepare(state.which, n, matrices);
            controls.replaceChildren(...[choice('shown', 'which', options),
                choice('head', 'head', n > 1 ? [['mean', attn.say('headMean')], ...attn.range(n).map((h) => [h, String(h)])] : [])].filter(Boolean));
            panels = matrices.map((m) => attn.panel(m, m.rows.length > SIDE ? attn.Canvas : attn.Grid));
            list.replaceChildren(...panels.map((panel) => panel.element));
            said.textContent = attn.say(state.which === 'difference' ? 'differenceSaid' : 'tablesSaid');
            legend.replaceChildren(attn.colorBar(attn.colors, state.which === 'difference' ? attn.say('difference') : attn.say('weightTitle')));
            resize();
        };
        let width = 0;
        new ResizeObserver(() => {
            if (list.clientWidth !== width) {
                width = list.clientWidth;
                resize();
            }
        }).observe(list);
        return {show, content: [attn.element('h2', {}, attn.say('tables')), said, controls, legend, list]};
    };
}
