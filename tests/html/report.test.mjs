// The pages of attn explain and attn report: sliders, probabilities, steps, tables, before and after, keys, hostile words.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {attn, npy, start, stop, withPage, write} from './browser.mjs';

const PHONE = '苹果 发布 新 手机';
const FRUIT = '她 吃 苹果 和 香蕉';
const RATE = 'the bank raised its interest rate';
const HOSTILE = '</script><!--<script> <h2> a"b &amp; \' apple <img/src=x/onerror=document.title=1> `${1}`\\u003c שלום مرحبا \u202eabc 👩‍👩‍👧‍👦 __proto__';

// Every score, with and without positions and neighbours, several heads, one model and several.
const MODELS = [
    ['scaled', 'scaled-dot', 'relative', 1, 0.3],
    ['dot', 'dot', 'none', 2, 0],
    ['additive', 'additive', 'relative', 2, 1],
];

// Of one sense a third of the sentences, so that the senses are not equally frequent.
const uneven = readFileSync(process.env.DATA_ZH, 'utf8').trim().split('\n').filter((line, i) => !line.startsWith('苹果_水果') || i % 3 === 0);

before(async () => {
    write('uneven.tsv', uneven.map((line) => `${line}\n`).join(''));
    const data = ['uneven.tsv', process.env.DATA_EN];
    for (const [name, score, position, seeds, near] of MODELS) {
        attn(['train', ...data, '-o', `${name}.model`, '--score', score, '--position', position, '--seeds', String(seeds), '--epochs', '3',
            '--neighbours', String(near), '--dim', '12', '--hidden', '5', '--heads', '3', '--threads', '1', '--quiet']);
        attn(['report', `${name}.model`, PHONE, FRUIT, '-o', `${name}.html`, '--quiet']);
        attn(['explain', `${name}.model`, RATE, '-o', `${name}-steps.html`, '--head', '2', '--quiet']);
    }
    attn(['report', 'scaled.model', PHONE, FRUIT, '-o', 'untrained.html', ...data.flatMap((file) => ['--data', file]), '--quiet']);
    attn(['report', 'scaled.model', PHONE, FRUIT, '-o', 'compared.html', '--before', 'additive.model', '--quiet']);
    attn(['report', 'scaled.model', HOSTILE, 'apple', '-o', 'hostile-report.html', '--tokenize', 'spaces', '--quiet']);
    attn(['explain', 'scaled.model', HOSTILE, '-o', 'hostile-steps.html', '--tokenize', 'spaces', '--quiet']);
    attn(['report', 'scaled.model', `${'far '.repeat(12)}${'near '.repeat(30)}apple`, 'an apple', '-o', 'far.html', '--quiet']);
    await start();
});
after(stop);

const explained = (model, sentence) => JSON.parse(attn(['explain', `${model}.model`, sentence, '--json', '--quiet']));
const close = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what ?? ''} ${a} is not ${b}`);
const allClose = (a, b, tolerance, what) => {
    assert.equal(a.length, b.length, what);
    a.forEach((v, i) => close(v, b[i], tolerance, `${what} ${i}:`));
};

// Numbers that a page shows, unrounded.
const card = (page, i) => page.locator('.mix-card').nth(i);
const weights = async (page, i) => (await card(page, i).locator('input[type=range]').evaluateAll((all) => all.map((one) => one.value))).map(Number);
const senses = (page, i) => card(page, i).locator('.sense output').evaluateAll((all) => all.map((one) => Number(one.dataset.value)));
const move = (page, i, word, value) => card(page, i).locator(`input[data-word="${word}"]`).evaluate((input, v) => {
    input.value = String(v);
    input.dispatchEvent(new Event('input', {bubbles: true}));
}, value);
const sum = (x) => x.reduce((total, v) => total + v, 0);

// Chooses in a part of the page.
const chooseIn = (page, section, group, name) =>
    page.locator(`[data-section=${section}]`).getByRole('group', {name: group}).getByRole('radio', {name, exact: true}).check();

// A reproducible random number in 0..1.
const random = (seed) => () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
};

// ---- sliders ----

for (const [name] of MODELS) {
    test(`the weights of ${name} always sum to 1`, withPage(`${name}.html`, {}, async (page) => {
        const next = random(7);
        for (let k = 0; k < 200; k++) {
            const i = k % 2;
            const before = await weights(page, i);
            const word = Math.floor(next() * before.length);
            const value = k % 20 === 9 ? 1 : k % 20 === 15 ? 0 : next();
            await move(page, i, word, value);
            const now = await weights(page, i);
            close(sum(now), 1, 1e-9, `move ${k}: sum`);
            close(now[word], value, 1e-9, `move ${k}: the word moved`);
            assert.ok(now.every((w) => w >= 0 && w <= 1), `move ${k}: ${now}`);
            assert.equal(await card(page, i).locator('.mix-sum').textContent(), '1.000000');
            if (k === 100) {
                await page.getByRole('radio', {name: '1', exact: true}).first().check(); // one head from here on
            }
        }
    }));
}

test('moving one weight keeps the proportions of the others', withPage('scaled.html', {}, async (page) => {
    await page.getByRole('radio', {name: '2', exact: true}).first().check();
    const before = await weights(page, 1);
    await move(page, 1, 4, 0.9);
    const now = await weights(page, 1);
    for (let j = 0; j < 4; j++) {
        close(now[j] / 0.1, before[j] / (1 - before[4]), 1e-9);
    }
    await move(page, 1, 4, 1); // the others have nothing left, and so no proportions
    assert.deepEqual((await weights(page, 1)), [0, 0, 0, 0, 1]);
    await move(page, 1, 4, 0.2);
    allClose(await weights(page, 1), [0.2, 0.2, 0.2, 0.2, 0.2], 1e-12);
}));

test('a sentence of one word has no choice', withPage('hostile-report.html', {}, async (page) => {
    assert.deepEqual(await weights(page, 1), [1]);
    await move(page, 1, 0, 0.3);
    assert.deepEqual(await weights(page, 1), [1]);
}));

test('the button returns to the learned weights', withPage('additive.html', {}, async (page) => {
    const learned = [await weights(page, 0), await senses(page, 0)];
    await move(page, 0, 1, 0.01);
    await move(page, 0, 3, 0.7);
    assert.notDeepEqual([await weights(page, 0), await senses(page, 0)], learned);
    await card(page, 0).getByRole('button', {name: '恢复学到的权重'}).click();
    assert.deepEqual([await weights(page, 0), await senses(page, 0)], learned);
}));

test('all the weight is exactly all, from wherever it comes', withPage('scaled.html', {}, async (page) => {
    for (let k = 1; k < 40; k++) {
        await card(page, 0).getByRole('button', {name: '恢复学到的权重'}).click();
        await move(page, 0, 2, k / 40);
        await move(page, 0, 2, 1);
        assert.deepEqual(await weights(page, 0), [0, 0, 1, 0], `from ${k / 40}`);
    }
}));

test('sliders move by keys', withPage('scaled.html', {}, async (page) => {
    const [before] = [await weights(page, 0)];
    await card(page, 0).locator('input[data-word="2"]').focus();
    for (let i = 0; i < 5; i++) {
        await page.keyboard.press('ArrowRight');
    }
    const now = await weights(page, 0);
    assert.ok(now[2] > before[2] + 0.01, `${before[2]} to ${now[2]}`);
    close(sum(now), 1, 1e-9);
    await page.keyboard.press('End');
    assert.deepEqual(await weights(page, 0), [0, 0, 1, 0]);
}));

test('a sentence is named by the word and its neighbours', withPage('scaled.html', {}, async (page) => {
    assert.equal(await page.getByRole('radio', {name: '1 苹果 发布 新 …', exact: true}).count(), 1);
    assert.equal(await page.getByRole('radio', {name: '2 她 吃 苹果 和 香蕉', exact: true}).count(), 1);
}));

// ---- colours ----

test('the same word has the same colour, the mix is that of its lamps', withPage('scaled.html', {}, async (page) => {
    const colors = await page.locator('.mix-card .chip').evaluateAll((chips) => chips.map((chip) => [chip.textContent, getComputedStyle(chip).backgroundColor]));
    const own = colors.filter(([word]) => word === '苹果').map(([, color]) => color);
    assert.equal(own.length, 2);
    assert.equal(own[0], own[1]);
    assert.equal(new Set(colors.map(([, color]) => color)).size, 8); // nine words, one of them twice
    await move(page, 0, 3, 1);
    const swatch = (i) => card(page, i).locator('.mix-swatch').evaluate((node) => getComputedStyle(node).backgroundColor);
    assert.equal(await swatch(0), colors.find(([word]) => word === '手机')[1]);
    assert.notEqual(await swatch(1), await swatch(0));
    // Half and half: the mean of the light, not of the numbers on the screen.
    await move(page, 0, 2, 0);
    await move(page, 0, 0, 0);
    await move(page, 0, 1, 0.5);
    const [a, b, mix] = [colors[1][1], colors[3][1], await swatch(0)].map((text) => text.match(/\d+/g).map(Number));
    const light = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    mix.forEach((c, k) => close(light(c), (light(a[k]) + light(b[k])) / 2, 0.005));
}));

// ---- probabilities ----

const softmax = (x) => {
    const e = x.map((v) => Math.exp(v - Math.max(...x)));
    return e.map((v) => v / sum(e));
};

// What all words say for sense s, whatever their weights.
const neighbours = (e, s) => (e.neighbours ? sum(e.neighbours.map((row) => row[s])) : 0);

// What the model says if all heads look at word j alone, from the numbers that the tool prints.
const lookingAt = (e, j) => {
    const each = e.members.map((m) => softmax(e.senses.map((_, s) => m.bias[s] + m.prior[s] + neighbours(e, s) +
        sum(m.heads.map((h) => sum(h.values[j].map((v, c) => v * h.matrix[c][s])))))));
    return e.senses.map((_, s) => sum(each.map((p) => p[s])) / each.length);
};

for (const [name] of MODELS) {
    test(`probabilities of ${name} are those of the tool`, withPage(`${name}.html`, {}, async (page) => {
        for (const [i, sentence] of [PHONE, FRUIT].entries()) {
            const told = JSON.parse(attn(['predict', `${name}.model`, sentence, '--json', '--quiet']));
            const e = explained(name, sentence);
            allClose(await senses(page, i), e.senses.map((sense) => told.probabilities[sense]), 1e-5, sentence);
            assert.deepEqual(await card(page, i).locator('.sense-name').allTextContents(), e.senses);
            for (let j = 0; j < e.count; j++) {
                await move(page, i, j, 1);
                allClose(await senses(page, i), lookingAt(e, j), 1e-9, `${sentence}, word ${j}`);
            }
        }
    }));
}

// ---- steps ----

// The numbers of a table, row by row; what is no number is left out.
const table = (page, name) => page.locator(`table[data-table=${name}] tbody tr`).evaluateAll((rows) => rows.map((row) =>
    [...row.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value))));
const shown = (page, name) => page.locator(`table[data-table=${name}] td[data-value]`).evaluateAll((cells) =>
    cells.map((cell) => [Number(cell.dataset.value), cell.textContent]));

const numbersOf = (e, head, member) => {
    const additive = e.score === 'additive';
    const transpose = (m) => m[0].map((_, i) => m.map((row) => row[i]));
    const max = Math.max(...head.scores);
    const exps = head.scores.map((s) => Math.exp(s - max));
    const products = head.keys.map((k, j) => k.map((v, c) => (additive ? head.w[c] * head.squashed[j][c] : head.query[c] * v)));
    const largest = Math.max(...member.logits);
    return [
        {keys: [head.query, ...head.keys]},
        {score: products.map((row, j) => [head.raw[j], ...row]), ...(additive ? {squashed: [head.w, ...head.squashed]} : {})},
        {scale: e.score === 'scaled-dot' ? head.raw.map((v, j) => [v, head.scaled[j]]) : head.scaled.map((v) => [v])},
        {position: head.position ? head.scaled.map((v, j) => [v, head.position[j], head.scores[j]]) : head.scores.map((v) => [v])},
        {softmax: [...head.scores.map((s, j) => [s, exps[j], head.weights[j]]), [sum(exps), sum(head.weights)]]},
        {weighted: [...head.values.map((row, j) => row.map((v) => head.weights[j] * v)), head.mixed], values: head.values},
        {senses: e.senses.map((_, s) => [...member.heads.map((h) => h.part[s]), member.bias[s], member.prior[s],
            ...(e.neighbours ? [neighbours(e, s)] : []), member.logits[s], Math.exp(member.logits[s] - largest), member.probabilities[s]]),
        ...(e.neighbours ? {neighbours: [...e.neighbours, e.senses.map((_, s) => neighbours(e, s))]} : {}),
        matrix: [head.mixed, ...transpose(head.matrix).map((row, s) => [head.part[s], ...row])]},
    ];
};

for (const [name] of MODELS) {
    test(`the steps of ${name} show the numbers of the tool`, withPage(`${name}-steps.html`, {}, async (page) => {
        const e = explained(name, RATE);
        assert.equal(await page.locator('.mix-card').count(), 0);
        for (const member of e.members) {
            if (e.members.length > 1) {
                await page.getByRole('group', {name: 'Member'}).getByRole('radio', {name: String(member.member), exact: true}).check();
            }
            for (const head of member.heads.toReversed()) { // the page begins with head 2
                await page.getByRole('group', {name: 'Head'}).getByRole('radio', {name: String(head.head), exact: true}).check();
                for (const [i, tables] of numbersOf(e, head, member).entries()) {
                    await page.getByRole('group', {name: 'Step'}).locator('input').nth(i).check();
                    for (const [what, rows] of Object.entries(tables)) {
                        const there = await table(page, what);
                        assert.equal(there.length, rows.length, what);
                        rows.forEach((row, k) => allClose(there[k], row, 1e-6, `${what}, row ${k}`));
                        for (const [value, text] of await shown(page, what)) {
                            close(Number(text), value, 0.5e-4 + 1e-12, what);
                        }
                    }
                }
            }
        }
    }));
}

test('a page begins with the head that was asked for', withPage('scaled-steps.html', {}, async (page) => {
    assert.ok(await page.getByRole('group', {name: 'Head'}).getByRole('radio', {name: '2', exact: true}).isChecked());
    const [{heads}] = explained('scaled', RATE).members;
    allClose((await table(page, 'keys')).flat(), [heads[2].query, ...heads[2].keys].flat(), 1e-9, 'keys');
}));

test('steps go by buttons and by keys', withPage('scaled-steps.html', {}, async (page) => {
    const tables = () => page.locator('[data-table]').evaluateAll((all) => all.map((one) => one.dataset.table));
    assert.deepEqual(await tables(), ['keys']);
    assert.ok(await page.getByRole('button', {name: 'Previous step'}).isDisabled());
    await page.getByRole('button', {name: 'Next step'}).click();
    assert.deepEqual(await tables(), ['score']);
    assert.equal(await page.locator('.formula').textContent(), 'q · k = Σ q[c] k[c]');
    await page.getByRole('group', {name: 'Step'}).locator('input').nth(1).focus();
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await tables(), ['scale']);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.deepEqual(await tables(), ['keys']);
    for (let i = 0; i < 6; i++) {
        await page.getByRole('button', {name: 'Next step'}).click();
    }
    assert.deepEqual(await tables(), ['senses', 'neighbours', 'matrix']);
    assert.ok(await page.getByRole('button', {name: 'Next step'}).isDisabled());
}));

// ---- before and after ----

test('before training senses are as probable as the data make them', withPage('untrained.html', {}, async (page) => {
    const after = await senses(page, 0);
    await chooseIn(page, 'mixing', '模型', '训练前');
    // The last matrix begins with zeros; what is left is the prior, the square root of the counts, and what neighbours say.
    const counts = ['苹果_公司', '苹果_水果'].map((sense) => uneven.filter((line) => line.startsWith(sense)).length);
    assert.ok(counts[0] > 2 * counts[1]);
    const e = explained('scaled', PHONE);
    const roots = counts.map((n, s) => Math.sqrt(n + 0.5) * Math.exp(neighbours(e, e.senses.indexOf(['苹果_公司', '苹果_水果'][s]))));
    allClose(await senses(page, 0), roots.map((root) => root / sum(roots)), 1e-9);
    close(sum(await weights(page, 0)), 1, 1e-9);
    await chooseIn(page, 'mixing', '模型', '训练后');
    assert.deepEqual(await senses(page, 0), after);
}));

test('another model beside this one', withPage('compared.html', {}, async (page) => {
    await chooseIn(page, 'mixing', '模型', 'additive.model');
    const told = JSON.parse(attn(['predict', 'additive.model', PHONE, '--json', '--quiet']));
    allClose(await senses(page, 0), Object.values(told.probabilities), 1e-5);
    await page.getByRole('group', {name: '步骤'}).locator('input').nth(4).check();
    const e = explained('additive', PHONE);
    allClose((await table(page, 'softmax')).map((row) => row.at(-1)).slice(0, 4), e.members[0].heads[0].weights, 1e-9);
}));

// ---- tables ----

const cellsOf = (page, i) => page.locator('.panel').nth(i).locator('td[data-column]:not([data-column=sum]) .number').allTextContents();

test('tables show the weights of all words, before and after, and their difference', withPage('compared.html', {}, async (page) => {
    const weightsOf = (model, head) => {
        attn(['heatmap', `${model}.model`, FRUIT, '--head', head, '--save-weights', 'w.npy', '--quiet']);
        return npy('w.npy');
    };
    for (const head of ['mean', '1']) {
        const [after, other] = ['scaled', 'additive'].map((model) => weightsOf(model, head));
        await chooseIn(page, 'tables', '头', head === 'mean' ? '平均' : head);
        for (const [name, wanted] of [['训练后', after], ['additive.model', other], ['差', after.map((v, i) => v - other[i])]]) {
            await chooseIn(page, 'tables', '权重', name);
            const there = (await cellsOf(page, 1)).map(Number);
            allClose(there, wanted, 0.005 + 1e-6, `${name}, head ${head}`);
        }
        const ticks = (await page.locator('[data-section=tables] .bar-ticks span').allTextContents()).map(Number);
        assert.equal(ticks[0], -ticks[4]);
        assert.equal(ticks[2], 0);
        assert.ok(ticks[4] >= Math.max(...after.map((v, i) => Math.abs(v - other[i]))));
        await chooseIn(page, 'tables', '权重', '训练后');
    }
    await page.locator('.panel').nth(1).locator('td[data-row="2"][data-column="4"]').hover();
    assert.match(await page.locator('.tip .sentence').textContent(), /^「苹果」分给「香蕉」的注意力：0\.\d\d$/);
    await chooseIn(page, 'tables', '权重', '差');
    await page.locator('.panel').nth(1).locator('td[data-row="2"][data-column="4"]').hover();
    assert.match(await page.locator('.tip .sentence').textContent(), /^「苹果」与「香蕉」的差：-?0\.\d\d$/);
}));

test('without a second model there is nothing to compare', withPage('scaled.html', {}, async (page) => {
    assert.equal(await page.getByRole('radio', {name: '训练前'}).count(), 0);
    assert.equal(await page.getByRole('radio', {name: '差'}).count(), 0);
}));

// ---- words, language, room ----

for (const name of ['hostile-report', 'hostile-steps']) {
    test(`words are text, whatever they look like: ${name}`, withPage(`${name}.html`, {}, async (page) => {
        const words = HOSTILE.split(' ');
        assert.equal(await page.title(), 'apple');
        assert.equal(await page.locator('img').count(), 0);
        assert.equal(await page.locator('script').count(), await page.locator('body > script').count());
        if (name === 'hostile-report') {
            assert.deepEqual(await card(page, 0).locator('.chip').allTextContents(), words);
            const labels = await card(page, 0).locator('input[type=range]').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
            assert.deepEqual(labels, words.map((word) => `Weight of ${word}`));
            await card(page, 0).getByRole('button', {name: /Show all/}).click();
            assert.equal(await card(page, 0).locator('.mix-slider:visible').count(), words.length);
        }
        assert.deepEqual(await page.locator('table[data-table=keys] tbody th bdi').allTextContents(), words);
    }));
}

test('the page speaks the language of its sentences', withPage('scaled.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    assert.equal(await page.locator('h1').textContent(), '「苹果」在 2 个句子里');
    assert.match(await page.locator('.honest').textContent(), /不能证明/);
    const english = await page.context().newPage();
    await english.goto(page.url().replace('scaled.html', 'scaled-steps.html'));
    assert.equal(await english.locator('html').getAttribute('lang'), 'en');
    assert.equal(await english.locator('h1').textContent(), 'How the model reads "bank"');
    assert.match(await english.locator('.honest').textContent(), /no proof of why it decided/);
    await english.close();
}));

for (const colorScheme of ['light', 'dark']) {
    for (const name of ['additive', 'hostile-report', 'dot-steps']) {
        test(`nothing sticks out of a telephone: ${name}, ${colorScheme}`, withPage(`${name}.html`, {viewport: {width: 400, height: 800}, colorScheme},
            async (page) => {
                for (let i = 0; i < 7; i++) {
                    await page.locator('.stepper input').nth(i).check();
                    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
                }
            }));
    }
}

test('words that the model does not look at have no colour, and the card says why', withPage('far.html', {}, async (page) => {
    const plain = await card(page, 0).locator('.chip').evaluateAll((chips) => chips.filter((chip) =>
        getComputedStyle(chip).backgroundColor === 'rgba(0, 0, 0, 0)').map((chip) => chip.textContent));
    assert.deepEqual(plain, Array(12).fill('far'));
    assert.equal(await card(page, 0).locator('.mix-outside').textContent(), 'Words without a colour are too far away: the model does not look at them.');
    assert.equal(await card(page, 1).locator('.mix-outside').count(), 0);
}));
