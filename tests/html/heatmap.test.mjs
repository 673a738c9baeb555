// The page of attn heatmap: hover, lock, keys, touch, heads, sums, lines.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {aside, attn, cell, lit, npy, numbers, rounded, sentence, start, stop, tipShown, withPage, write} from './browser.mjs';

const english = ['apple will release a new phone', 'she ate an apple'];
const chinese = ['苹果 发布 新 手机', '她 吃 苹果 和 香蕉'];

before(async () => {
    attn(['heatmap', 'm.safetensors', ...english, '-o', 'en.html', '--quiet']);
    attn(['heatmap', 'm.safetensors', ...chinese, '-o', 'zh.html', '--quiet']);
    attn(['heatmap', 'm.safetensors', ...chinese, '-o', 'zh-en.html', '--quiet', '--lang', 'en', '--head', '1']);
    for (const head of ['0', '1', '2', 'mean']) {
        attn(['heatmap', 'm.safetensors', english[0], '--head', head, '--save-weights', `${head}.npy`, '--quiet']);
    }
    write('known.tsv', '\t苹果\t手机\nthe\t0.21\t0.79\nend\t0.5\t0.5\n');
    write('english.tsv', '\tapple\tphone\napple\t0.79\t0.21\nphone\t1e-9\t0.999999999\n');
    write('chinese.tsv', '\t苹果\t手机\n苹果\t0.79\t0.21\n手机\t0.5\t0.5\n');
    for (const name of ['known', 'english', 'chinese']) {
        attn(['heatmap', '--matrix', `${name}.tsv`, '-o', `${name}.html`, '--quiet']);
    }
    write('scores.tsv', '-2\t1\n0.5\t0\n');
    for (const lang of ['en', 'zh']) {
        attn(['heatmap', '--matrix', 'scores.tsv', '--cmap', 'blue_red', '--lang', lang, '-o', `scores-${lang}.html`, '--quiet']);
    }
    await start();
});
after(stop);

test('hovering tells who gives whom how much, in English', withPage('english.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    await cell(page, 0, 1).hover();
    assert.equal(await sentence(page), '"apple" gives "phone" 0.21');
    assert.equal(await page.locator('.tip .quiet').textContent(), 'row 1, column 2 · 0.21');
    await cell(page, 1, 0).hover();
    assert.equal(await sentence(page), '"phone" gives "apple" 0.00');
    assert.equal(await page.locator('.tip .quiet').textContent(), 'row 2, column 1 · 1e-9');
    await aside(page);
    assert.equal(await tipShown(page), false);
}));

test('and in Chinese', withPage('chinese.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    await cell(page, 0, 1).hover();
    assert.equal(await sentence(page), '「苹果」分给「手机」的注意力：0.21');
    assert.match(await page.locator('body').evaluate((body) => getComputedStyle(body).fontFamily), /Noto Sans CJK SC/);
}));

test('the language is that of most labels, or the one asked for', withPage('zh-en.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    assert.equal(await page.locator('tbody th bdi').first().getAttribute('lang'), 'zh-Hans');
    assert.equal(await page.getByRole('radio', {name: '1'}).isChecked(), true);
}));

test('the row and the column light up, and the tooltip stands above both', withPage('en.html', {}, async (page) => {
    await cell(page, 3, 2).hover();
    assert.deepEqual(await lit(page), ['0,2', '1,2', '2,2', '3,0', '3,1', '3,2', '3,3', '3,4', '3,5', '4,2', '5,2', 'a', 'release']);
    const tip = await page.locator('.tip').boundingBox();
    const under = await cell(page, 3, 2).boundingBox();
    assert.ok(tip.y + tip.height <= under.y);
    await cell(page, 0, 2).hover(); // in the first row the column's label has to be seen too
    const label = await page.locator('.panel').first().getByRole('button', {name: 'release'}).boundingBox();
    const higher = await page.locator('.tip').boundingBox();
    assert.ok(higher.y + higher.height <= label.y);
    await page.locator('.panel').first().locator('tbody th').nth(1).hover();
    assert.deepEqual(await lit(page), ['1,0', '1,1', '1,2', '1,3', '1,4', '1,5', 'will']);
    assert.equal(await tipShown(page), false);
    await aside(page);
    assert.deepEqual(await lit(page), []);
}));

test('a click locks a cell, Escape lets it go', withPage('en.html', {}, async (page) => {
    await cell(page, 1, 1).click();
    const held = await sentence(page);
    await cell(page, 4, 4).hover();
    assert.equal(await sentence(page), held);
    await aside(page);
    assert.equal(await sentence(page), held);
    assert.equal((await lit(page)).length, 13);
    await page.keyboard.press('Escape');
    assert.deepEqual(await lit(page), []);
    assert.equal(await tipShown(page), false);
    await cell(page, 4, 4).hover();
    assert.match(await sentence(page), /^"new" gives "new" 0\.\d\d$/);
}));

test('so do a second click, a click elsewhere, and a click in another panel', withPage('en.html', {}, async (page) => {
    await cell(page, 1, 1).click();
    await cell(page, 1, 1).click();
    await aside(page);
    assert.deepEqual(await lit(page), []);
    await cell(page, 1, 1).click();
    await page.locator('h1').click();
    assert.deepEqual(await lit(page), []);
    await cell(page, 1, 1).click();
    await cell(page, 0, 1, 1).click();
    assert.equal(await page.locator('.locked').count(), 1);
    assert.match(await sentence(page), /^"she" gives "ate"/);
    await cell(page, 2, 2, 1).click();
    assert.match(await sentence(page), /^"an" gives "an"/);
}));

test('arrow keys move, Enter locks', withPage('en.html', {}, async (page) => {
    await page.locator('.panel td[tabindex="0"]').first().focus();
    const at = () => page.evaluate(() => [document.activeElement.dataset.row, document.activeElement.dataset.column].join());
    const keys = [['ArrowRight', '0,1'], ['ArrowDown', '1,1'], ['End', '1,5'], ['ArrowRight', '1,5'], ['Control+ArrowDown', '5,5'],
        ['ArrowLeft', '5,4'], ['ArrowUp', '4,4'], ['Home', '4,0'], ['PageUp', '0,0'], ['ArrowUp', '0,0']];
    for (const [key, place] of keys) {
        await page.keyboard.press(key);
        assert.equal(await at(), place, key);
    }
    await page.keyboard.press('ArrowRight');
    assert.match(await sentence(page), /^"apple" gives "will" 0\.\d\d$/);
    assert.equal(await page.locator('.panel').first().locator('td[tabindex="0"]').count(), 1);
    await page.keyboard.press('Enter');
    await cell(page, 4, 4).hover();
    assert.match(await sentence(page), /^"apple" gives "will"/);
    await page.keyboard.press('ArrowDown'); // the lock goes along
    assert.match(await sentence(page), /^"will" gives "will"/);
    assert.equal(await page.locator('.locked').count(), 1);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.locked').count(), 0);
}));

test('a finger taps', withPage('en.html', {hasTouch: true, isMobile: true, viewport: {width: 400, height: 800}}, async (page) => {
    await cell(page, 2, 1).tap();
    assert.match(await sentence(page), /^"release" gives "will"/);
    await cell(page, 2, 3).tap();
    assert.match(await sentence(page), /^"release" gives "a"/);
    await page.locator('h1').tap();
    assert.equal(await tipShown(page), false);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 400, `the page is ${wide} pixels wide`);
}));

test('each head has the numbers that the tool saves', withPage('en.html', {}, async (page) => {
    assert.equal(await page.getByRole('radio', {name: 'mean'}).isChecked(), true);
    for (const head of ['mean', '0', '1', '2']) {
        const weights = npy(`${head}.npy`);
        await page.getByRole('radio', {name: head}).check();
        assert.deepEqual(await numbers(page), weights.map((v) => rounded(v, 2)));
        const key = head === 'mean' ? "'mean'" : head;
        assert.deepEqual(await page.evaluate(`[...attn.sentences[0].head(${key}).values]`), weights);
    }
    assert.match(await page.locator('.intro').textContent(), /Each row sums to 1/);
    await page.getByRole('radio', {name: 'all'}).check();
    assert.deepEqual(await page.locator('figcaption .quiet').allTextContents(), ['head 0', 'head 1', 'head 2', 'head 0', 'head 1', 'head 2']);
    assert.deepEqual(await numbers(page, 2), npy('2.npy').map((v) => rounded(v, 2)));
}));

test('chosen words are added up', withPage('en.html', {}, async (page) => {
    const panel = page.locator('.panel').first();
    await panel.getByRole('button', {name: 'phone'}).click();
    await cell(page, 0, 'sum').hover();
    assert.match(await sentence(page), /^"apple" gives the chosen word 0\.\d\d$/);
    await panel.getByRole('button', {name: 'release'}).click();
    assert.equal(await panel.locator('button[aria-pressed=true]').count(), 2);
    const expected = (file) => {
        const weights = npy(file);
        return [0, 1, 2, 3, 4, 5].map((row) => rounded(weights[6 * row + 5] + weights[6 * row + 2], 2));
    };
    assert.deepEqual(await panel.locator('tbody .sum .number').allTextContents(), expected('mean.npy'));
    await cell(page, 3, 'sum').hover();
    assert.equal(await sentence(page), `"a" gives the 2 chosen words ${expected('mean.npy')[3]}`);
    assert.deepEqual((await lit(page)).filter((place) => place.endsWith('sum')).length, 6);
    await page.getByRole('radio', {name: '2'}).check(); // chosen words stay chosen
    assert.deepEqual(await panel.locator('tbody .sum .number').allTextContents(), expected('2.npy'));
    await panel.getByRole('button', {name: 'phone'}).click();
    assert.equal(await panel.locator('button[aria-pressed=true]').count(), 1);
    await page.getByRole('button', {name: 'Clear chosen words'}).click();
    assert.equal(await panel.locator('.sum:visible').count(), 0);
    assert.equal(await page.getByRole('button', {name: 'Clear chosen words'}).isVisible(), false);
}));

test('by keys and in Chinese too', withPage('chinese.html', {}, async (page) => {
    await page.locator('td[tabindex="0"]').focus();
    await page.keyboard.press('c');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('c');
    await page.keyboard.press('End');
    assert.equal(await sentence(page), '「苹果」分给所选 2 个词的注意力：1.00');
}));

test('heads stand beside each other while their numbers stay readable', withPage('en.html', {}, async (page) => {
    await page.getByRole('radio', {name: 'all'}).check();
    const boxes = await page.locator('.panel').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    assert.equal(boxes.length, 6);
    assert.deepEqual(boxes.slice(0, 3).map((box) => box.y), Array(3).fill(boxes[0].y));
    assert.ok(boxes[3].y > boxes[2].y);
    assert.equal(await page.locator('.no-numbers').count(), 0);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.setViewportSize({width: 420, height: 800});
    const narrow = await page.locator('.panel').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
    assert.equal(new Set(narrow).size, 6);
}));

test('lines are as strong as the weights', withPage('en.html', {}, async (page) => {
    const weights = npy('mean.npy');
    await page.getByRole('radio', {name: 'lines'}).check();
    const panel = page.locator('.panel').first();
    const drawn = await panel.locator('path').evaluateAll((paths) => paths.map((path) =>
        [Number(path.dataset.row), Number(path.dataset.column), Number(path.getAttribute('stroke-opacity'))]));
    assert.equal(drawn.length, weights.filter((v) => v >= 1 / 256).length);
    for (const [row, column, opacity] of drawn) {
        assert.ok(Math.abs(opacity - weights[6 * row + column]) <= 5e-5, `${row}, ${column}: ${opacity}`);
    }
    await panel.locator('.left button').nth(3).hover();
    const own = await panel.locator('path').evaluateAll((paths) => paths.map((path) => path.dataset.row));
    assert.ok(own.length > 0 && own.every((row) => row === '3'));
    assert.deepEqual(await panel.locator('.right .number').allTextContents(), weights.slice(18, 24).map((v) => rounded(v, 2)));
    await panel.locator('.right button').nth(1).hover();
    const others = await panel.locator('path').evaluateAll((paths) => paths.map((path) => path.dataset.column));
    assert.ok(others.length > 0 && others.every((column) => column === '1'));
    await panel.locator('.left button').first().click();
    await panel.locator('.right button').nth(5).hover();
    assert.equal(await sentence(page), `"apple" gives "phone" ${rounded(weights[5], 2)}`);
    await page.keyboard.press('Escape');
    assert.equal(await panel.locator('path').count(), drawn.length);
}));

test('labels of mixed languages keep their own', withPage('known.html', {}, async (page) => {
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    await cell(page, 0, 1).hover();
    assert.equal(await sentence(page), '「the」分给「手机」的注意力：0.79');
}));

test('on a diverging map lighter is nearer to 0, not darker more', withPage('scores-en.html', {}, async (page) => {
    const intro = page.locator('.intro');
    assert.match(await intro.textContent(), /lighter is nearer to 0\.$/);
    await page.getByRole('radio', {name: 'lines'}).check();
    assert.match(await intro.textContent(), /a stronger line is farther from 0\.$/);
}));

test('and in Chinese: the lighter, the nearer to 0', withPage('scores-zh.html', {}, async (page) => {
    assert.match(await page.locator('.intro').textContent(), /颜色越浅，越接近 0。$/);
}));
