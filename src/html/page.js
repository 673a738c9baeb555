// What every page has: its data, its words in two languages, elements, numbers as text.
//
// A page is one classic script a file, in the order that the C side lists them. They share the one object `attn`; everything else of a file
// stays inside its block. Words from the data reach the page as text only: `element` makes no markup of a string, and nothing here may.
'use strict';
const attn = {};
{
    attn.data = JSON.parse(document.getElementById('data').textContent);
    attn.language = document.documentElement.lang;

    // ---- the page's own words: {en: {key: text or function of values}, 'zh-Hans': {...}} ----

    const dictionary = {};

    attn.words = (languages) => Object.assign(dictionary, languages[attn.language]);

    attn.say = (key, ...values) => {
        const entry = dictionary[key];
        return typeof entry === 'function' ? entry(...values) : entry;
    };

    attn.words({
        en: {
            honest: 'Weights show where the model looked. They are no proof of why it decided: a word that gets much weight may matter ' +
                'little, and a common word may collect what is left over.',
            madeBy: 'Made with attn. This file is complete: it loads nothing and sends nothing.',
            masked: 'masked',
            nan: 'not a number',
        },
        'zh-Hans': {
            honest: '权重只说明模型看了哪里，不能证明它为什么这样判断：权重大的词未必重要，常见的词也可能只是收下了剩余的注意力。',
            madeBy: '由 attn 生成。此文件是完整的：不加载、也不发送任何内容。',
            masked: '已遮蔽',
            nan: '不是数值',
        },
    });

    // ---- elements ----

    const fill = (node, attributes, children) => {
        for (const [name, value] of Object.entries(attributes)) {
            if (value !== undefined && value !== null && value !== false) {
                node.setAttribute(name, value === true ? '' : value);
            }
        }
        node.append(...children.flat().filter((child) => child !== null && child !== undefined));
        return node;
    };

    // An element with attributes and children; strings among them become text. The policy of the page allows no `style` attribute: set
    // properties of .style instead.
    attn.element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

    attn.svg = (name, attributes = {}, ...children) =>
        fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

    // A word of the data: its direction does not reach its neighbours, and Chinese characters get Chinese shapes on an English page too.
    attn.word = (text) => {
        const han = /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
        return attn.element('bdi', {class: 'word', lang: han ? 'zh-Hans' : null}, text);
    };

    // Fills the page: heading, content, what has to be said about weights.
    attn.page = (title, ...content) => {
        document.getElementById('page').replaceChildren(
            attn.element('header', {class: 'head'}, attn.element('h1', {}, attn.word(title))),
            ...content,
            attn.element('footer', {class: 'foot'}, attn.element('p', {class: 'honest'}, attn.say('honest')),
                attn.element('p', {}, attn.say('madeBy'))),
        );
    };

    // ---- numbers ----

    const arrays = {u8: Uint8Array, f32: Float32Array, f64: Float64Array};

    // Numbers that the C side packed (attn__data_packed). Browsers run on little-endian machines only.
    attn.numbers = (base64, type) => {
        const text = atob(base64);
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) {
            bytes[i] = text.charCodeAt(i);
        }
        return new arrays[type](bytes.buffer);
    };

    // toFixed rounds halves up; C, and so our pictures, round them to even. 60 digits show every half there is, for up to 15 digits.
    const roundHalfEven = (v, digits) => {
        const up = v.toFixed(digits);
        const exact = v.toFixed(60);
        const rest = exact.slice(exact.indexOf('.') + 1 + digits);
        const even = exact.slice(0, exact.length - rest.length).replace(/\.$/, '');
        return /^50*$/.test(rest) && '02468'.includes(even.at(-1)) ? even : up;
    };

    // A number with so many digits after the point, an exponent from a million on, no sign before a rounded zero: as in the pictures.
    attn.fixed = (v, digits) => {
        const size = Math.abs(v);
        const text = size === Infinity ? 'inf' : size < 1e6 ? roundHalfEven(size, digits) : size.toExponential(digits).replace(/e\+(\d)$/, 'e+0$1');
        return (v < 0 && /[1-9i]/.test(text) ? '-' : '') + text;
    };

    // As short as so many significant digits allow.
    attn.short = (v, digits = 4) => String(Number(v.toPrecision(digits))).replace('Infinity', 'inf');
}
