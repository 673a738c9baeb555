// One panel of a heatmap page: what is pointed at, locked and chosen in it, by mouse, finger or keys.
//
// A target is {row, column}; either may be null (a word at the side), and the column 'sum' is that of the chosen words. A view (grid.js,
// canvas.js, lines.js) draws and tells the panel of targets; it has
//   element               what is shown
//   hit(event)            the target under a pointer; null: none; undefined: between two, so that nothing changes
//   overLocked(target)    if it has that: what happens when something is pointed at while a target is locked
//   light(target, locked) lights up a row and a column; null: nothing
//   place(target)         where that is in the window: {box, label} for the tooltip; null: not to be seen
//   reveal(target)        scrolls there and takes the focus, after a key
//   draw()                shows numbers and choices anew
//   resize(width)         chooses sizes for that much room
//   needs()               if it has that: the width below which numbers become small
'use strict';
{
    let holder = null; // the panel with the locked cell: there is one at most
    let pointed = null; // the panel that the tooltip speaks of

    const same = (a, b) => a === b || (a && b && a.row === b.row && a.column === b.column);

    // Where the pointer is, and where it was when a key was pressed. Until it leaves that place, what moves under it is not pointed at: keys
    // scroll, and browsers then tell of a pointer that nobody has touched.
    let pointer = null;
    let resting = null;
    const moved = ({clientX, clientY}) => {
        if (resting && (resting.clientX !== clientX || resting.clientY !== clientY)) {
            resting = null;
        }
        return resting === null;
    };
    document.addEventListener('pointermove', ({clientX, clientY}) => {
        pointer = {clientX, clientY};
    }, {capture: true});
    document.addEventListener('keydown', () => {
        resting = pointer;
    }, {capture: true});

    class Panel {
        constructor(matrix, View) {
            Object.assign(this, {matrix, target: null, locked: false});
            this.view = new View(this);
            this.element = attn.element('figure', {class: 'panel'}, this.caption(), this.view.element);
            this.element.addEventListener('keydown', (event) => this.key(event));
            this.element.addEventListener('pointermove', (event) => this.hover(event));
            this.element.addEventListener('pointerleave', (event) => {
                if (moved(event)) {
                    this.over(null);
                }
            });
        }

        caption() {
            const {sentence, head} = this.matrix;
            const parts = [sentence.title ? attn.element('h2', {}, attn.word(sentence.title)) : null,
                this.matrix.ofMany ? attn.element('p', {class: 'quiet'}, attn.say('head', head)) : null].filter(Boolean);
            return parts.length ? attn.element('figcaption', {}, parts) : null;
        }

        // ---- pointing ----

        hover(event) {
            const target = event.pointerType !== 'touch' && moved(event) ? this.view.hit(event) : undefined;
            if (target !== undefined) {
                this.over(target);
            }
        }

        over(target) {
            if (this.locked) {
                this.view.overLocked?.(target);
            } else if (!same(target, this.target)) {
                this.point(target);
            }
        }

        // Locks; a second press on the same target unlocks.
        press(target) {
            const again = this.locked && same(target, this.target);
            attn.unlock();
            if (!again) {
                holder = this;
                this.locked = true;
                this.point(target);
            }
        }

        point(target) {
            this.target = target;
            pointed = this;
            this.view.light(target, this.locked);
            this.tell();
        }

        // The tooltip, of a target that has both a row and a column.
        tell() {
            const {target} = this;
            const place = target && target.row !== null && target.column !== null ? this.view.place(target) : null;
            if (place) {
                attn.tip.show(place, attn.element('p', {class: 'sentence'}, this.matrix.sentenceOf(target)),
                    attn.element('p', {class: 'quiet'}, this.matrix.detailOf(target)));
            } else {
                attn.tip.hide();
            }
        }

        // ---- choosing columns ----

        choose(column) {
            const {chosen} = this.matrix;
            if (!chosen.delete(column)) {
                chosen.add(column);
            }
            if (this.target && this.target.column === 'sum' && chosen.size === 0) {
                attn.unlock();
                this.point(null);
            }
            this.view.draw();
            this.view.light(this.target, this.locked);
            this.element.dispatchEvent(new CustomEvent('chosen', {bubbles: true}));
        }

        // ---- keys ----

        // The columns in the order in which arrows go through them.
        steps() {
            const columns = this.matrix.columns.map((_, column) => column);
            return this.matrix.chosen.size > 0 ? [...columns, 'sum'] : columns;
        }

        move(rows, columns) {
            const steps = this.steps();
            const {row, column} = this.target && this.target.row !== null && this.target.column !== null ? this.target : {row: 0, column: 0};
            const clamp = (i, n) => Math.min(Math.max(i, 0), n - 1);
            this.target = {row: clamp(row + rows, this.matrix.rows.length),
                column: steps[clamp(steps.indexOf(column) + columns, steps.length)]};
            this.view.reveal(this.target);
            this.point(this.target);
        }

        key(event) {
            const far = 1e9;
            const page = event.ctrlKey ? far : 1;
            const moves = {ArrowUp: [-page, 0], ArrowDown: [page, 0], ArrowLeft: [0, -page], ArrowRight: [0, page], Home: [0, -far],
                End: [0, far], PageUp: [-10, 0], PageDown: [10, 0]};
            const onButton = event.target.closest('button') !== null;
            if (event.key in moves && !event.altKey && !event.metaKey) {
                this.move(...moves[event.key]);
            } else if ((event.key === 'Enter' || event.key === ' ') && this.target && !onButton) {
                this.press(this.target);
            } else if (event.key === 'c' && !event.ctrlKey && !event.metaKey && this.target && Number.isInteger(this.target.column)) {
                this.choose(this.target.column);
            } else {
                return;
            }
            event.preventDefault();
        }
    }

    attn.panel = (matrix, View) => new Panel(matrix, View);

    attn.unlock = () => {
        const panel = holder;
        holder = null;
        if (panel) {
            panel.locked = false;
            panel.point(null);
        }
    };

    document.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') {
            attn.unlock();
            attn.tip.hide();
        }
    });
    document.addEventListener('pointerdown', (event) => {
        if (holder && !holder.element.contains(event.target)) {
            attn.unlock();
        }
    });
    // Sizes for all panels of an element: as many beside each other as keep their numbers readable.
    attn.resizePanels = (panels, list) => {
        const room = list.clientWidth;
        const gap = parseFloat(getComputedStyle(list).columnGap) || 0;
        const needs = Math.max(...panels.map(({view}) => view.needs?.() ?? room));
        const beside = Math.max(1, Math.min(panels.length, Math.floor((room + gap) / (needs + gap))));
        panels.forEach(({view}) => view.resize(Math.floor((room + gap) / beside - gap)));
    };

    // The tooltip stays with its cell when something scrolls.
    document.addEventListener('scroll', () => pointed?.tell(), {capture: true, passive: true});
}
