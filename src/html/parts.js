// Parts that pages have in common: colours and their bar, the tooltip, choices between few things.
'use strict';
{
    // ---- colours ----

    // WCAG 2.2, "relative luminance" of an sRGB colour.
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };

    // Black or white, whichever is readable on a colour: the contrast is then at least 4.58.
    attn.inkOn = (rgb) => (luminance(rgb) > 0.179 ? '#000' : '#fff');

    // The 256 colours of the data (RRGGBB each) from vmin to vmax. A value outside has the colour of the end. Of a diverging map the middle is
    // 0, and both sides reach as far as the longer of them. `part` is how much of the way to the end a value has gone.
    attn.scale = (colors, vmin, vmax, diverging = false) => {
        const rgb = Array.from({length: 256}, (_, i) => [0, 2, 4].map((k) => parseInt(colors.slice(6 * i + k, 6 * i + k + 2), 16)));
        const css = rgb.map((c) => `rgb(${c.join(' ')})`);
        const ink = rgb.map(attn.inkOn);
        const far = Math.max(Math.abs(vmin), Math.abs(vmax));
        const inside = (v) => Math.min(Math.max(v, vmin), vmax);
        const share = (v) => (diverging ? 0.5 + inside(v) / (2 * far) : (inside(v) - vmin) / (vmax - vmin));
        const step = (v) => Math.floor(share(v) * 255 + 0.5);
        const part = (v) => (diverging ? Math.abs(inside(v)) / far : share(v));
        return {vmin, vmax, rgb, part, step, color: (v) => css[step(v)], ink: (v) => ink[step(v)]};
    };

    // A legend: the colours with numbers under them, arrows where values lie outside, and a swatch for each kind of cell without a value.
    attn.colorBar = (scale, title, {below = false, above = false, kinds = []} = {}) => {
        const strip = attn.element('div', {class: 'bar-colors'});
        const stops = Array.from({length: 18}, (_, i) => scale.color(scale.vmin * (1 - i / 17) + scale.vmax * (i / 17)));
        strip.style.backgroundImage = `linear-gradient(to right, ${stops.join(', ')})`;
        const ticks = [0, 1, 2, 3, 4].map((i) => {
            const text = attn.short(scale.vmin * (1 - i / 4) + scale.vmax * (i / 4));
            return attn.element('span', {}, i === 0 && below ? `≤ ${text}` : i === 4 && above ? `≥ ${text}` : text);
        });
        const swatches = kinds.map((kind) =>
            attn.element('span', {class: 'bar-kind'}, attn.element('i', {class: `swatch ${kind}`}), attn.say(kind)));
        return attn.element('div', {class: 'bar'}, attn.element('span', {class: 'bar-title'}, attn.word(title)),
            attn.element('div', {class: 'bar-scale'}, strip, attn.element('div', {class: 'bar-ticks'}, ticks)), swatches);
    };

    // ---- the tooltip: one, above what it speaks of, so that the row stays visible ----

    const GAP = 8;
    const tip = attn.element('div', {class: 'tip', id: 'tip', role: 'tooltip', hidden: true});
    document.body.append(tip);

    attn.tip = {
        element: tip,
        // `box`: what it speaks of; `label`: what it must not cover either, just above; both in coordinates of the window. `beside`: rather
        // on the right, where there is room.
        show({box, label = null, beside = false}, ...children) {
            tip.replaceChildren(...children);
            tip.hidden = false;
            const {width, height} = tip.getBoundingClientRect();
            const room = document.documentElement.clientWidth - width - GAP;
            const right = beside && box.right + GAP <= room;
            const left = right ? box.right + GAP : Math.min(Math.max(box.left + box.width / 2 - width / 2, GAP), Math.max(room, GAP));
            const over = box.top - height - GAP;
            const above = label && label.bottom > over ? label.top - height - GAP : over;
            const top = right ? (box.top + box.bottom - height) / 2 : above >= 0 ? above : box.bottom + GAP;
            tip.style.left = `${left + window.scrollX}px`;
            tip.style.top = `${top + window.scrollY}px`;
        },
        hide() {
            tip.hidden = true;
        },
    };

    // ---- a choice between few things: radio buttons that look like one strip ----

    let groups = 0;

    // `options`: [value, text] each; `change(value)` is called when another one is chosen.
    attn.choice = (label, options, value, change) => {
        const name = `choice${groups++}`;
        const buttons = options.map(([option, text]) => {
            const input = attn.element('input', {type: 'radio', name, value: String(option), checked: option === value});
            input.addEventListener('change', () => change(option));
            return attn.element('label', {}, input, attn.element('span', {}, text));
        });
        return attn.element('fieldset', {class: 'choice'}, attn.element('legend', {}, label),
            attn.element('div', {class: 'choice-strip'}, buttons));
    };
}
