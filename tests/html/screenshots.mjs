// The pictures of pages, and of a terminal, in docs/images, made anew: build/attn has to be there, and the models that sh scripts/demo.sh leaves in out/.
//     node tests/html/screenshots.mjs
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = mkdtempSync(join(tmpdir(), 'attn-'));
const zh = ['heatmap', 'out/zh.safetensors', '苹果 发布 新 手机', '她 吃 苹果 和 香蕉'];
const en = ['heatmap', 'out/en.safetensors', 'apple will release a new phone', 'she ate an apple and a banana'];

const pictures = [
    {name: 'page-heatmap', command: zh, size: [1000, 600], show: (page) =>
        page.locator('.panel').nth(1).locator('td[data-row="2"][data-column="4"]').hover()},
    {name: 'page-lines-dark', command: en, size: [800, 620], dark: true, show: async (page) => {
        await page.getByRole('radio', {name: 'lines'}).check();
        await page.locator('.left button').first().hover();
    }},
    {name: 'page-phone', command: en, size: [400, 760], show: (page) =>
        page.locator('.panel').first().locator('td[data-row="0"][data-column="2"]').click()},
    {name: 'page-report', command: ['report', ...zh.slice(1), '--data', 'data/zh.train.tsv'], size: [1000, 930]},
    {name: 'page-steps', command: ['explain', 'out/en.safetensors', 'the bank raised its interest rate'], size: [1000, 700], dark: true, show: (page) =>
        page.getByRole('radio', {name: '5 Softmax'}).check()},
    {name: 'page-film', command: ['train', 'data/en.train.tsv', '-o', join(folder, 'model'), '--report-sentence', 'the bank raised its interest rate'],
        option: '--report', size: [1000, 1010]},
];

// What the tool prints in a terminal, as a page: 24-bit colours become spans.
const terminal = (commands) => {
    const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replace(/[\u2e80-\uffef]/g, '<i>$&</i>'); // two columns wide
    const lines = commands.map((command) => {
        const printed = execFileSync(process.env.ATTN ?? 'build/attn', [...command, '--color', 'always'],
            {cwd: root, encoding: 'utf8', env: {...process.env, COLORTERM: 'truecolor', COLUMNS: '80', NO_COLOR: ''}});
        return `$ attn ${command.join(' ').replace('out/', '')}\n${printed}`;
    });
    let now = {};
    const spans = lines.join('').split('\x1b[').map((piece, i) => {
        const [, codes, text] = i > 0 ? piece.match(/^([\d;]*)m([^]*)$/) : [null, '0', piece];
        const color = codes.match(/^([34]8);2;(\d+;\d+;\d+)$/);
        now = color === null ? {} : {...now, [color[1] === '48' ? 'background' : 'color']: `rgb(${color[2].replaceAll(';', ', ')})`};
        return `<span style="${Object.entries(now).map(([name, value]) => `${name}: ${value}`).join('; ')}">${escaped(text)}</span>`;
    });
    return `<style>body { margin: 12px; background: #1e1e1e; color: #e6e6e6 }
        pre { margin: 0; font: 16px/19px "DejaVu Sans Mono", "WenQuanYi Micro Hei Mono", monospace }
        i { display: inline-block; width: 2ch; height: 19px; font-style: normal; text-align: center; vertical-align: top }</style><pre>${spans.join('')}</pre>`;
};

const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox']});
for (const {name, command, option = '-o', size: [width, height], dark, show = () => {}} of pictures) {
    const file = join(folder, 'page.html');
    execFileSync(process.env.ATTN ?? 'build/attn', [...command, option, file, '--quiet'], {cwd: root});
    const page = await browser.newPage({viewport: {width, height}, colorScheme: dark ? 'dark' : 'light'});
    await page.goto(pathToFileURL(file).href);
    await show(page);
    await page.screenshot({path: join(root, `docs/images/${name}.png`)});
    await page.close();
}
{
    const page = await browser.newPage({viewport: {width: 560, height: 405}});
    await page.setContent(terminal([['heatmap', 'out/zh.safetensors', '她 吃 苹果 和 香蕉'], ['heatmap', '--cmap', 'list']]));
    await page.screenshot({path: join(root, 'docs/images/heatmap-terminal.png')});
    await page.close();
}
await browser.close();
rmSync(folder, {recursive: true});
