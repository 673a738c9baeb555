// What holds of every page of a heatmap: tables, masks, hostile words, long sentences, numbers, colours, its policy.
import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {attn, cell, numbers, path, sentence, start, stop, withPage, write} from './browser.mjs';

before(async () => {
    write('look.tsv', '0\t1\n0.5\tnan\n');
    attn(['heatmap', '--matrix', 'look.tsv', '-o', 'look.html', '--cmap', 'viridis_r', '--bar-title', 'similarity', '--title', 'A <title>',
        '--row-title', 'first', '--column-title', 'second', '--quiet']);
    write('round.tsv', '0.125\t0.375\t0.005\t-0.001\t1e6\t-2500000\t0.625\t12.345\tinf\t-inf\n');
    attn(['heatmap', '--matrix', 'round.tsv', '-o', 'round.html', '--vmin', '-1', '--vmax', '20', '--quiet']);
    for (const n of [64, 65]) {
        const row = Array.from({length: n}, (_, i) => (i % 10) / 10).join('\t');
        attn(['heatmap', '--matrix', '-', '-o', `${n}.html`, '--quiet'], `${row}\n`.repeat(n));
    }
    write('top.tsv', '0.1\t0.6\t0.3\n0.4\t0.4\t0.2\n');
    attn(['heatmap', '--matrix', 'top.tsv', '-o', 'top.html', '--annotate', 'top=1', '--quiet']);
    await start();
});
after(stop);

const background = (locator) => locator.evaluate((node) => getComputedStyle(node).backgroundColor);

test('a page is one file that names no other', () => {
    for (const name of ['masked', 'cross', 'hostile', 'look', '64']) {
        const text = readFileSync(path(`${name}.html`), 'utf8').replaceAll('http://www.w3.org/2000/svg', '');
        assert.doesNotMatch(text, /https?:|\ssrc=["']?[a-z/]+[."']|href=|url\(|@import|import\(|fetch\(|XMLHttpRequest|WebSocket/);
    }
});

test('its policy lets nothing out', withPage('cross.html', {}, async (page) => {
    await page.evaluate(async () => {
        document.addEventListener('securitypolicyviolation', (event) => {
            document.body.dataset.refused = [document.body.dataset.refused, event.effectiveDirective].filter(Boolean).join(' ');
        });
        const add = (name, attributes, text = '') => document.body.append(Object.assign(document.createElement(name), attributes,
            {textContent: text}));
        add('img', {src: 'file:///none.png'});
        add('script', {}, 'document.title = "run"');
        add('style', {}, 'body { display: none }');
        add('iframe', {src: 'file:///none.html'});
        await new Promise((done) => setTimeout(done, 100));
    });
    const refused = await page.evaluate(() => document.body.dataset.refused.split(' ').sort());
    assert.deepEqual(refused, ['frame-src', 'img-src', 'script-src-elem', 'style-src-elem']);
    assert.notEqual(await page.title(), 'run');
}, {complaints: true}));

test('rows are queries, columns are keys (field report B111)', withPage('cross.html', {}, async (page) => {
    assert.equal(await page.locator('tbody tr').count(), 2);
    assert.equal(await page.locator('thead th[scope=col]:not(.sum)').count(), 5);
    assert.deepEqual(await page.locator('.axis').allTextContents(), ['key: looked at', 'query: who looks']);
    assert.equal(await cell(page, 0, 4).textContent(), '1.00');
    const hot = await cell(page, 0, 4).boundingBox();
    for (const [row, column] of [[0, 0], [1, 4]]) {
        const other = await cell(page, row, column).boundingBox();
        assert.ok(hot.x >= other.x && hot.y <= other.y);
    }
    await cell(page, 0, 4).hover();
    assert.equal(await sentence(page), '"q0" gives "k4" 1.00');
}));

test('the heatmap is a table with headings, up to 64 words', withPage('64.html', {}, async (page) => {
    assert.equal(await page.locator('table').count(), 1);
    assert.equal(await page.locator('th[scope=row]').count(), 64);
    assert.equal(await page.locator('thead th[scope=col]:not(.sum)').count(), 64);
    assert.equal((await numbers(page)).length, 64 * 64);
    const grid = await page.getByRole('grid').ariaSnapshot();
    assert.match(grid, /grid "query: who looks × key: looked at"/);
    assert.match(grid, /rowheader "0"/);
    assert.match(grid, /gridcell "0\.90"/);
    assert.equal(await page.locator('canvas').count(), 0);
}));

test('and a canvas beyond', withPage('65.html', {}, async (page) => {
    assert.equal(await page.locator('table').count(), 0);
    assert.equal(await page.locator('canvas').count(), 1);
    assert.match(await page.getByRole('application').getAttribute('aria-label'), /65 rows and 65 columns/);
}));

test('masked cells and what is no number have no colour (field reports B03, B107)', withPage('masked.html', {}, async (page) => {
    assert.deepEqual(await numbers(page), ['1.00', '–', '–', '0.50', '0.50', '–', '0.33', '0.33', 'NaN']);
    assert.equal(await page.locator('td.masked:not(.sum)').count(), 3);
    assert.equal(await page.locator('td.nan:not(.sum)').count(), 1);
    assert.match(await cell(page, 0, 1).evaluate((node) => getComputedStyle(node).backgroundImage), /repeating-linear-gradient/);
    assert.deepEqual(await page.locator('.bar-kind').allTextContents(), ['masked', 'not a number']);
    await cell(page, 0, 1).hover();
    assert.equal(await sentence(page), '"one" to "two": masked');
    await cell(page, 2, 2).hover();
    assert.equal(await sentence(page), '"three" to "three": not a number');
    await page.getByRole('button', {name: 'two'}).click();
    await page.getByRole('button', {name: 'three'}).click();
    assert.deepEqual(await page.locator('tbody td.sum').allTextContents(), ['masked', '0.50', 'not a number']);
    await cell(page, 0, 'sum').hover();
    assert.equal(await sentence(page), '"one" to the 2 chosen words: masked');
}));

const hostile = ['</script><!--<script>', '<h2>', 'a"b', '&amp;', "'", '<!--', '<img src=x onerror=document.title=1>', '`${1}`\\u003c', 'שלום',
    'مرحبا', '\u202eabc', '👩‍👩‍👧‍👦', 'a\u2028b', '\x01\x1f\x7f', '', '__proto__', '   ', 'a\tb'];

test('words are text, whatever they look like (field report B112)', withPage('hostile.html', {}, async (page) => {
    assert.deepEqual(await page.locator('tbody th').allTextContents(), hostile);
    assert.deepEqual(await page.locator('thead button').allTextContents(), hostile);
    assert.equal(await page.title(), hostile[0]);
    assert.equal(await page.locator('h1').textContent(), hostile[0]);
    assert.deepEqual(await page.locator('h2').allTextContents(), [hostile[0]]);
    assert.deepEqual(await page.locator('.axis').allTextContents(), ['a"b', '<h2>']);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), await page.locator('body > script').count());
    await cell(page, 0, 6).hover();
    assert.match(await sentence(page), /^&amp; of "<\/script><!--<script>" and "<img src=x onerror=document.title=1>": 0\.\d\d$/);
    await page.getByRole('radio', {name: 'lines'}).check();
    assert.deepEqual(await page.locator('.left button').allTextContents(), hostile);
    const comments = await page.evaluate(() => document.createTreeWalker(document, NodeFilter.SHOW_COMMENT).nextNode());
    assert.equal(comments, null);
}));

test('titles and colours are those that were asked for', withPage('look.html', {}, async (page) => {
    assert.equal(await page.locator('h1').textContent(), 'A <title>');
    assert.equal(await page.locator('.bar-title').textContent(), 'similarity');
    assert.deepEqual(await page.locator('.axis').allTextContents(), ['second', 'first']);
    assert.equal(await background(cell(page, 0, 0)), 'rgb(253, 231, 37)'); // the ends of viridis_r, on which black and white are readable
    assert.equal(await background(cell(page, 0, 1)), 'rgb(68, 1, 84)');
    assert.deepEqual(await page.locator('tbody tr:first-child td:not(.sum)').evaluateAll((cells) => cells.map((node) => getComputedStyle(node).color)),
        ['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
    await cell(page, 0, 1).hover();
    assert.equal(await sentence(page), 'similarity of "0" and "1": 1.00');
    assert.deepEqual(await page.locator('.bar-ticks span').allTextContents(), ['0', '0.25', '0.5', '0.75', '1']);
    assert.match(await page.locator('.honest').textContent(), /no proof of why it decided/);
}));

test('it prints without its controls, in black on white', withPage('masked.html', {colorScheme: 'dark'}, async (page) => {
    const ink = () => page.locator('body').evaluate((body) => getComputedStyle(body).color);
    assert.equal(await ink(), 'rgb(233, 234, 237)');
    await page.emulateMedia({media: 'print', colorScheme: 'light'});
    assert.equal(await ink(), 'rgb(0, 0, 0)');
    assert.equal(await page.locator('.controls').isVisible(), false);
    assert.equal(await page.locator('table').isVisible(), true);
    assert.equal(await page.locator('.honest').isVisible(), true);
}));

test('numbers are rounded as in the pictures', withPage('round.html', {}, async (page) => {
    assert.deepEqual(await numbers(page), ['0.12', '0.38', '0.01', '0.00', '1.00e+06', '-2.50e+06', '0.62', '12.35', 'inf', '-inf']);
    assert.deepEqual(await page.locator('.bar-ticks span').allTextContents(), ['≤ -1', '4.25', '9.5', '14.75', '≥ 20']);
}));

test('numbers may be others than the values', withPage('counted.html', {}, async (page) => {
    assert.deepEqual(await numbers(page), ['3', '1', '2', '18']);
    assert.equal(await background(cell(page, 1, 1)), await page.evaluate(() => attn.colors.color(0.9).replace(/ /g, ', ')));
    await cell(page, 1, 1).hover();
    assert.equal(await sentence(page), '"1" gives "1" 18');
    assert.equal(await page.locator('.tip .quiet').textContent(), 'row 2, column 2 · 0.9');
}));

test('only the largest numbers of each row, if asked for', withPage('top.html', {}, async (page) => {
    assert.deepEqual(await page.locator('td:not(.no-number, .sum) .number').allTextContents(), ['0.60', '0.40']);
}));

test('512 words and 8 heads (field report B124)', async () => {
    const size = statSync(path('long.html')).size;
    assert.ok(size < 20e6, `${size} bytes`);
    const begun = Date.now();
    await withPage('long.html', {}, async (page) => {
        // A point of the canvas is that of a cell: 2 pixels each, behind the labels.
        const at = async (row, column) => {
            const place = await page.evaluate(([r, c]) => {
                const {box} = attn.panels[0].view.place({row: r, column: c});
                return [box.x + box.width / 2, box.y + box.height / 2];
            }, [row, column]);
            await page.mouse.move(...place);
            return place;
        };
        const color = (row, column) => page.evaluate(([r, c]) => new Promise((done) => {
            requestAnimationFrame(() => requestAnimationFrame(() => {
                const {box} = attn.panels[0].view.place({row: r, column: c});
                const canvas = document.querySelector('canvas');
                const frame = canvas.getBoundingClientRect();
                const pixel = new OffscreenCanvas(1, 1).getContext('2d');
                pixel.drawImage(canvas, frame.x - box.x, frame.y - box.y);
                done([...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)]);
            }));
        }), [row, column]);
        await page.waitForFunction(() => document.querySelector('canvas').width > 1000);
        const hot = await color(100, 100);
        console.log(`# first picture of 512 x 512 x 8 after ${Date.now() - begun} ms, ${size} bytes`);
        assert.deepEqual(hot, await page.evaluate(() => attn.colors.rgb[attn.colors.step(attn.sentences[0].head(0).values[100 * 512 + 100])]));
        assert.notDeepEqual(hot, await color(100, 300));
        await at(100, 103);
        assert.equal(await sentence(page), '"word100" gives "word103" 0.43'); // .9 exp(-3/4) + .1/512
        await page.getByRole('radio', {name: '3'}).check();
        await at(200, 197);
        assert.equal(await sentence(page), '"word200" gives "word197" 0.90');
        await page.getByRole('radio', {name: 'mean'}).check();
        await at(10, 500);
        assert.equal(await sentence(page), '"word10" to "word500": masked');
        await page.getByRole('radio', {name: '7'}).check();
        assert.deepEqual(await color(10, 500).then((rgb) => rgb[0] === rgb[1] && rgb[1] === rgb[2]), true);
        await page.getByRole('application').focus();
        await page.keyboard.press('Control+ArrowDown');
        await page.keyboard.press('End');
        await page.keyboard.press('ArrowUp');
        await page.keyboard.press('ArrowLeft');
        assert.equal(await page.locator('[role=status].unseen').textContent(), await sentence(page));
        assert.match(await sentence(page), /^"word510" gives "word510" 0\.16$/); // .9 exp(-7/4) + .1/511
        await page.keyboard.press('c');
        await page.keyboard.press('ArrowRight'); // to the last column, then to that of the sums
        await page.keyboard.press('ArrowRight');
        assert.equal(await sentence(page), '"word510" gives the chosen word 0.16');
        await page.keyboard.press('Escape');
        await at(509, 'sum');
        assert.equal(await sentence(page), '"word509" to the chosen word: masked');
        await page.getByRole('button', {name: 'Larger cells'}).click();
        assert.match(await page.locator('.canvas-tools .quiet').textContent(), /^3 px/);
    })();
});
