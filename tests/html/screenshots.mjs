// The pictures of pages in docs/images, made anew: build/attn has to be there, and the models that sh scripts/demo.sh leaves in out/.
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
await browser.close();
rmSync(folder, {recursive: true});
