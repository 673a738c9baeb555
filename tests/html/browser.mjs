// What the tests of pages share: a browser, pages of which every request and every complaint is noted, the tool, .npy files.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const folder = process.env.PAGES;

let browser;
export const start = async () => {
    browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']});
};
export const stop = () => browser.close();

export const path = (name) => join(folder, name);

// attn with these arguments, in the folder of the pages; `input` goes to its standard input.
export const attn = (args, input = '') => execFileSync(process.env.ATTN, args, {cwd: folder, input, encoding: 'utf8'});

export const write = (name, text) => writeFileSync(path(name), text);

// Numbers of a .npy file, version 1.0, as the tool writes it: float64.
export const npy = (name) => {
    const bytes = readFileSync(path(name));
    assert.equal(bytes.toString('latin1', 0, 8), '\x93NUMPY\x01\x00');
    assert.match(bytes.toString('latin1', 10, 128), /'descr': '<f8', 'fortran_order': False/);
    const data = bytes.subarray(10 + bytes.readUInt16LE(8));
    return Array.from({length: data.length / 8}, (_, i) => data.readDoubleLE(8 * i));
};

// Until the first paint: what is typed before, Chromium drops, which shows on a busy machine alone.
const painted = (page) => page.evaluate(() => new Promise((done) => {
    new PerformanceObserver(done).observe({type: 'paint', buffered: true});
}));

// Opens a page, gives it to `test`, and then expects that nothing was requested but the page itself, and nothing complained of
// unless `complaints` says so.
export const withPage = (name, options, test, {complaints: expected = false} = {}) => async () => {
    const address = pathToFileURL(path(name)).href;
    const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
    const page = await context.newPage();
    const requests = [];
    const complaints = [];
    page.on('requestfinished', (request) => requests.push(request.url()));
    page.on('requestfailed', (request) => {
        const why = request.failure().errorText;
        if (why !== 'csp') { // stopped by the page's own policy, which also complains
            requests.push(`${request.url()} (${why})`);
        }
    });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.stack));
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    try {
        await page.goto(address);
        await painted(page);
        await test(page);
        if (!expected) {
            assert.deepEqual(complaints, []);
        }
        assert.deepEqual(requests, [address]);
    } finally {
        await context.close();
    }
};

// ---- a page of a heatmap ----

export const cell = (page, row, column, panel = 0) =>
    page.locator('.panel').nth(panel).locator(`td[data-row="${row}"][data-column="${column}"]`);

// Rest of the page where nothing is.
export const aside = (page) => page.mouse.move(2, 2);

export const sentence = (page) => page.locator('.tip .sentence').textContent();
export const tipShown = (page) => page.locator('.tip').isVisible();

// The cells and labels that are lit, as words and places.
export const lit = (page) => page.evaluate(() => [...document.querySelectorAll('.lit:not([hidden])')].map((node) =>
    (node.matches('td') ? `${node.dataset.row},${node.dataset.column}` : node.textContent)).sort());

// All numbers of a panel, as they stand in the cells.
export const numbers = (page, panel = 0) => page.locator('.panel').nth(panel).locator('td[data-column]:not([data-column=sum]) .number').allTextContents();

// Rounded as C does it: halves to even.
export const rounded = (v, digits) => {
    const scaled = v * 10 ** digits;
    const tie = Math.abs(scaled) % 1 === 0.5;
    return tie ? (2 * Math.round(scaled / 2) / 10 ** digits).toFixed(digits) : v.toFixed(digits);
};
