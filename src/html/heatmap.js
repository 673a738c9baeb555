// The page of a heatmap: its controls and panels.
'use strict';
{
    attn.words({
        en: {
            title: 'Attention',
            rowTitle: 'query: who looks',
            columnTitle: 'key: looked at',
            barTitle: 'attention weight',
            darker: 'A row is the word that looks, a column the word looked at; darker is more.',
            lighter: 'A row is the word that looks, a column the word looked at; lighter is nearer to 0.',
            stronger: 'Words on the left look, words on the right are looked at; a stronger line is more.',
            farther: 'Words on the left look, words on the right are looked at; a stronger line is farther from 0.',
            sums: ' Each row sums to 1, apart from rounding.',
            help: 'Point at a cell or tap it to read it; click to keep it, Escape to let go; arrow keys move. Click words above the ' +
                'columns (or press C) to add up what each row gives to them.',
            heads: 'Head',
            headMean: 'mean',
            headAll: 'all',
            view: 'View',
            heatmap: 'heatmap',
            lines: 'lines',
            clear: 'Clear chosen words',
        },
        'zh-Hans': {
            title: '注意力',
            rowTitle: '查询：谁在看',
            columnTitle: '键：被看的词',
            barTitle: '注意力权重',
            darker: '一行是在看的词，一列是被看的词；颜色越深，分得越多。',
            lighter: '一行是在看的词，一列是被看的词；颜色越浅，越接近 0。',
            stronger: '左边的词在看，右边的词被看；线越深，分得越多。',
            farther: '左边的词在看，右边的词被看；线越深，离 0 越远。',
            sums: '每行之和为 1（四舍五入除外）。',
            help: '指向或轻点一个格子可读出它；点击固定，按 Esc 松开；方向键移动。点击列上方的词（或按 C 键）可把各行分给这些词的注意力相加。',
            heads: '头',
            headMean: '平均',
            headAll: '全部',
            view: '视图',
            heatmap: '热图',
            lines: '连线',
            clear: '清除所选的词',
        },
    });

    const {data} = attn;
    const SIDE = 64; // more words than this on a side are drawn on a canvas,
    const CELLS = 20000; // and so is everything if there would be more cells than this

    attn.colors = attn.scale(data.colors, data.vmin, data.vmax, data.diverging);
    attn.sentences = data.sentences.map(attn.sentence);
    attn.rowTitle = data.rowTitle ?? attn.say('rowTitle');
    attn.columnTitle = data.columnTitle ?? attn.say('columnTitle');

    const state = {head: data.heads === 1 ? 0 : data.head === -1 ? 'mean' : data.head === -2 ? 'all' : data.head, view: 'heatmap'};
    let panels = []; // also attn.panels

    // ---- parts of the page ----

    const intro = attn.element('p', {class: 'intro'});
    const legend = attn.element('div', {class: 'legend'});
    const list = attn.element('div', {class: 'panels'});
    const help = attn.element('p', {class: 'quiet help screen-only'});
    const clear = attn.element('button', {type: 'button', class: 'clear', hidden: true}, attn.say('clear'));

    const controls = () => {
        const heads = [['mean', attn.say('headMean')], ...Array.from({length: data.heads}, (_, h) => [h, String(h)]),
            ['all', attn.say('headAll')]];
        const views = ['heatmap', 'lines'].map((view) => [view, attn.say(view)]);
        const change = (key) => (value) => {
            state[key] = value;
            show();
        };
        return attn.element('div', {class: 'controls screen-only'},
            data.heads > 1 ? attn.choice(attn.say('heads'), heads, state.head, change('head')) : null,
            attn.choice(attn.say('view'), views, state.view, change('view')), clear);
    };

    // ---- panels ----

    const matrices = () => attn.sentences.flatMap((sentence) => {
        const heads = state.head === 'all' ? Array.from({length: data.heads}, (_, h) => h) : [state.head];
        return heads.map((head) => Object.assign(attn.matrix(sentence, head), {ofMany: heads.length > 1}));
    });

    const viewFor = (all) => {
        const cells = all.reduce((sum, m) => sum + m.rows.length * m.columns.length, 0);
        const large = cells > CELLS || all.some((m) => m.rows.length > SIDE || m.columns.length > SIDE);
        return state.view === 'lines' ? attn.Lines : large ? attn.Canvas : attn.Grid;
    };

    const resize = () => attn.resizePanels(panels, list);

    const showClear = () => {
        clear.hidden = panels.every((panel) => panel.matrix.chosen.size === 0);
    };

    // Chosen words stay chosen when another head or view is shown.
    const chosen = new Map();

    const show = () => {
        attn.unlock();
        panels.forEach((panel) => panel.point(null));
        panels.forEach(({matrix}) => chosen.set(matrix.sentence, matrix.chosen));
        const all = matrices();
        all.forEach((m) => {
            m.chosen = new Set(chosen.get(m.sentence));
        });
        const View = viewFor(all);
        panels = all.map((m) => attn.panel(m, View));
        attn.panels = panels;
        list.className = `panels ${state.view}`;
        list.replaceChildren(...panels.map((panel) => panel.element));
        const found = attn.survey(all);
        const what = attn.say(state.view === 'lines' ? (data.diverging ? 'farther' : 'stronger') : (data.diverging ? 'lighter' : 'darker'));
        intro.textContent = data.barTitle === null ? what + (state.view === 'heatmap' && found.sumsToOne ? attn.say('sums') : '') : '';
        legend.replaceChildren(attn.colorBar(attn.colors, data.barTitle ?? attn.say('barTitle'),
            {...found, kinds: ['masked', 'nan'].filter((kind) => found[kind])}));
        help.textContent = attn.say(state.view === 'lines' ? 'linesHelp' : 'help');
        resize();
        showClear();
    };

    clear.addEventListener('click', () => {
        panels.forEach((panel) => [...panel.matrix.chosen].forEach((column) => panel.choose(column)));
    });
    list.addEventListener('chosen', () => {
        showClear();
        resize(); // the sums take room
    });

    attn.page(data.title ?? attn.say('title'), intro, attn.element('div', {class: 'top'}, controls(), legend), list, help);
    show();

    let width = list.clientWidth;
    new ResizeObserver(() => {
        if (list.clientWidth !== width) {
            width = list.clientWidth;
            resize();
        }
    }).observe(list);
}
