// The page of attn train --report: curves and attention over the epochs, slider, play, hostile words.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {attn, path, start, stop, withPage, write} from './browser.mjs';

const SENTENCES = ['the bank raised its interest rate', 'they sat on the grassy bank of the river'];
const HOSTILE = '</script><!--<script> apple <img/src=x/onerror=document.title=1> שלום 👩‍👩‍👧‍👦';
const EPOCHS = 6;

before(async () => {
    attn(['train', process.env.DATA_EN, '-o', 'film.model', '--epochs', String(EPOCHS), '--dim', '12', '--hidden', '5', '--heads', '3', '--threads', '1',
        '--dev-fraction', '0.2', '--quiet', '--log', 'film.jsonl', '--report', 'film.html', ...SENTENCES.flatMap((s) => ['--report-sentence', s])]);
    attn(['train', process.env.DATA_ZH, '-o', 'zh.model', '--epochs', '2', '--dim', '4', '--heads', '1', '--threads', '1', '--quiet', '--report', 'film-zh.html']);
    write('hostile.tsv', `fruit\t1\t${HOSTILE}\n<company>\t1\tan apple\n`);
    attn(['train', 'hostile.tsv', '-o', 'hostile.model', '--epochs', '1', '--dim', '4', '--heads', '1', '--threads', '1', '--quiet', '--report',
        'film-hostile.html']);
    await start();
});
after(stop);

const close = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what ?? ''} ${a} is not ${b}`);
const seek = (page, i) => page.locator('.film-bar input').evaluate((input, v) => {
    input.value = String(v);
    input.dispatchEvent(new Event('input', {bubbles: true}));
}, i);
const values = (page, i, what) => page.locator('.mix-card').nth(i).locator(`${what}[data-value]`).evaluateAll((all) => all.map((one) => Number(one.dataset.value)));

test('the last picture is the model that was saved', withPage('film.html', {}, async (page) => {
    assert.equal(await page.locator('.film-epoch').textContent(), `epoch ${EPOCHS} of ${EPOCHS}`);
    for (const [i, sentence] of SENTENCES.entries()) {
        const e = JSON.parse(attn(['explain', 'film.model', sentence, '--json', '--quiet']));
        const n = e.count;
        const weights = await values(page, i, 'td');
        e.members[0].heads.forEach((head, h) => head.weights.forEach((w, j) => close(weights[(h + 1) * n + j], w, 1e-7, `head ${h}, word ${j}`)));
        for (let j = 0; j < n; j++) {
            close(weights[j], e.members[0].heads.reduce((sum, head) => sum + head.weights[j], 0) / 3, 1e-7, `mean, word ${j}`);
        }
        (await values(page, i, 'output')).forEach((p, s) => close(p, e.members[0].probabilities[s], 1e-9));
    }
}));

test('the first picture is the untrained model', withPage('film.html', {}, async (page) => {
    await seek(page, 0);
    assert.equal(await page.locator('.film-epoch').textContent(), 'before training');
    // The last matrix begins with zeros; the rest is how often the senses occur, and what neighbours say.
    const e = JSON.parse(attn(['explain', 'film.model', SENTENCES[0], '--json', '--quiet']));
    const odds = e.senses.map((_, s) => Math.exp(e.members[0].prior[s] + e.neighbours.reduce((sum, row) => sum + row[s], 0)));
    (await values(page, 0, 'output')).forEach((p, s) => close(p, odds[s] / (odds[0] + odds[1]), 1e-6));
    assert.equal(await page.locator('.chart-legend output').first().textContent(), '–');
}));

test('curves are those of the log, weights sum to 1', withPage('film.html', {}, async (page) => {
    const log = readFileSync(path('film.jsonl'), 'utf8').trim().split('\n').map(JSON.parse);
    assert.equal(log.length, EPOCHS);
    for (const line of log) {
        await seek(page, line.epoch);
        assert.equal(await page.locator('.film-epoch').textContent(), `epoch ${line.epoch} of ${EPOCHS}`);
        const legend = (await page.locator('.chart-legend output').allTextContents()).map(Number);
        close(legend[0], line.loss, 0.0005 + 1e-9);
        close(legend[2], line.dev.micro_f1, 0.0005 + 1e-9);
        close(legend[3], line.dev.macro_f1, 0.0005 + 1e-9);
        const weights = await values(page, 1, 'td');
        for (let row = 0; row < 4; row++) {
            close(weights.slice(9 * row, 9 * (row + 1)).reduce((sum, w) => sum + w, 0), 1, 1e-6);
        }
    }
    for (const points of await page.locator('.chart polyline').evaluateAll((lines) => lines.map((line) => line.getAttribute('points').split(' ').length))) {
        assert.ok(points === EPOCHS || points === EPOCHS + 1);
    }
    for (const chart of await page.locator('.chart').all()) { // what the numbers below are
        assert.equal(await chart.locator('text').last().textContent(), 'Epoch');
    }
}));

test('it plays to its end, and stops when told', withPage('film.html', {}, async (page) => {
    await page.clock.install({time: 0});
    await page.clock.pauseAt(1000); // time passes below alone, however busy the machine
    const play = page.locator('.film-play');
    const epoch = () => page.locator('.film-bar input').evaluate((input) => Number(input.value));
    assert.equal(await play.textContent(), 'Play');
    await play.click();
    assert.equal(await epoch(), 0);
    assert.equal(await play.textContent(), 'Pause');
    await page.clock.runFor(3000);
    const now = await epoch();
    assert.ok(now > 0 && now < EPOCHS, `${now}`);
    await play.click();
    await page.clock.runFor(3000);
    assert.equal(await epoch(), now);
    await play.click();
    await page.clock.runFor(20000);
    assert.equal(await epoch(), EPOCHS);
    assert.equal(await play.textContent(), 'Play');
}));

test('arrow keys and the curves go through it too', withPage('film.html', {}, async (page) => {
    const epoch = () => page.locator('.film-bar input').evaluate((input) => Number(input.value));
    await page.locator('.film-bar input').focus();
    await page.keyboard.press('ArrowLeft');
    assert.equal(await epoch(), EPOCHS - 1);
    await page.keyboard.press('Home');
    assert.equal(await epoch(), 0);
    const box = await page.locator('.chart').first().boundingBox();
    await page.mouse.click(box.x + box.width * 0.995, box.y + box.height / 2);
    assert.equal(await epoch(), EPOCHS);
    await page.mouse.click(box.x + box.width * 0.09, box.y + box.height / 2);
    assert.equal(await epoch(), 0);
}));

test('the language of the sentences, the first of each sense', withPage('film-zh.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    assert.equal(await page.locator('h1').textContent(), '模型怎样学会「苹果」');
    assert.equal(await page.locator('.mix-card').count(), 2);
    assert.match(await page.locator('.honest').textContent(), /不能证明/);
}));

test('words are text, whatever they look like', withPage('film-hostile.html', {}, async (page) => {
    assert.deepEqual(await page.locator('.mix-card').first().locator('thead th').allTextContents(), HOSTILE.split(' '));
    assert.equal(await page.locator('.mix-card h3').first().textContent(), HOSTILE);
    assert.deepEqual(await page.locator('.mix-card').first().locator('.sense-name').allTextContents(), ['fruit', '<company>']);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), await page.locator('body > script').count());
}));

for (const colorScheme of ['light', 'dark']) {
    test(`nothing sticks out of a telephone, ${colorScheme}`, withPage('film-hostile.html', {viewport: {width: 400, height: 800}, colorScheme}, async (page) => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
    }));
}
