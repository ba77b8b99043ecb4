// timeline.js - the samples of each thread over time; what is selected there filters everything else.
const THREAD_ROWS = 8, STATE_ROWS = 24, THREAD_HEIGHT = 22, MANY_HEIGHT = 14, AXIS_HEIGHT = 16, PHASES_HEIGHT = 12;

// [ns, label] of round steps of 1, 2 or 5: at most so many steps.
function timeTicks(whole, most) {
    if (!whole)
        return [];
    let step = 10 ** Math.floor(Math.log10(whole / most));
    step *= [1, 2, 5, 10].find(times => whole / (step * times) <= most);
    const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([least]) => whole >= least) || [1, "ns"];
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)), ticks = [];
    for (let n = 0; n * step <= whole * (1 + 1e-9); n++)
        ticks.push([n * step, `${(n * step / unit).toFixed(decimals)} ${name}`]);
    return ticks;
}

class Timeline {
    constructor(canvas, onChange) {
        this.canvas = canvas;
        this.onChange = onChange;
        let begun = null;
        const sliceAt = e => {
            const bounds = canvas.getBoundingClientRect();
            return Math.max(0, Math.min(data.slices, Math.round((e.clientX - bounds.left) / bounds.width * data.slices)));
        };
        canvas.addEventListener("pointerdown", e => { begun = sliceAt(e); canvas.setPointerCapture(e.pointerId); });
        canvas.addEventListener("pointerleave", () => hideTip());
        canvas.addEventListener("pointermove", e => {
            if (begun === null) {
                this.hover(e);
                return;
            }
            hideTip();
            this.selection = [Math.min(begun, sliceAt(e)), Math.max(begun, sliceAt(e))];
            this.draw();
        });
        canvas.addEventListener("pointerup", e => {
            const at = sliceAt(e), from = Math.min(begun, at), to = Math.max(begun, at);
            begun = null;
            this.selection = null;
            if (to - from < 2 && this.isInPhases(e))
                this.set(...this.phaseRun(at));
            else
                this.set(from, to - from >= 2 ? to : from); // a click clears it
        });
        canvas.addEventListener("keydown", e => this.key(e));
    }

    // Of the threads that the filter leaves, those with the most samples have a row each; the others, and without states those with less than 1%, share the last one.
    // They stand by process, the busiest first; one of several threads has a row of its own above them. Of each thread: its rows.
    pickThreads() {
        const all = data.threads.map(([pid], thread) => ({ thread, pid, count: 0 })), processes = new Map();
        for (let i = 0; i < entries.thread.length; i++)
            all[entries.thread[i]].count++;
        const counts = all.filter(c => filter.threads === null || filter.threads.has(c.thread)), most = data.states.length ? STATE_ROWS : THREAD_ROWS;
        for (const { pid, count } of counts) {
            const known = processes.get(pid) || { count: 0, threads: 0 };
            processes.set(pid, { count: known.count + count, threads: known.threads + 1 });
        }
        counts.sort((a, b) => b.count - a.count);
        const own = counts.filter(c => data.states.length || c.count * 100 >= entries.thread.length).length;
        const shown = counts.length <= Math.min(own + 1, most) ? counts.length : Math.min(own, most - 1);
        const rows = data.threads.map(() => []), picked = counts.slice(0, shown), headed = new Map();
        picked.sort((a, b) => processes.get(b.pid).count - processes.get(a.pid).count || a.pid - b.pid || b.count - a.count);
        this.names = [];
        for (const { thread, pid } of picked) {
            const [, tid, name] = data.threads[thread], several = processes.size > 1 && processes.get(pid).threads > 1;
            if (several && !headed.has(pid)) {
                const first = data.threads.find(t => t[0] === pid && t[1] === pid) || data.threads[thread];
                headed.set(pid, this.names.push(`process ${first[2] || "?"} ${pid}`) - 1);
            }
            rows[thread].push(this.names.push(`${several ? "  " : ""}${name || "?"} ${tid}`) - 1);
        }
        if (counts.length > shown)
            this.names.push(`other threads (${counts.length - shown})`);
        counts.slice(shown).forEach(c => rows[c.thread].push(this.names.length - 1));
        counts.forEach(({ thread, pid }) => { if (headed.has(pid)) rows[thread].push(headed.get(pid)); });
        this.count = Math.max(1, this.names.length);
        this.height = this.count > THREAD_ROWS ? MANY_HEIGHT : THREAD_HEIGHT;
        return rows;
    }

    set(from, to) {
        filter.from = to > from ? from : 0;
        filter.to = to > from ? to : data.slices;
        this.onChange();
    }

    key(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] * Math.ceil(data.slices / 40);
        if (event.key === "Escape")
            this.set(0, 0);
        else if (step && event.shiftKey)
            this.set(filter.from, Math.max(filter.from + 2, Math.min(data.slices, filter.to + step)));
        else if (step) {
            const length = filter.to - filter.from >= data.slices ? Math.ceil(data.slices / 10) : filter.to - filter.from;
            const from = Math.max(0, Math.min(data.slices - length, filter.to - filter.from >= data.slices ? 0 : filter.from + step));
            this.set(from, from + length);
        } else
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    // Phases stand in a strip below the axis, where there are several.
    hasPhases() {
        return (data.phases || []).some(phase => phase > 1);
    }

    isInPhases(event) {
        return this.hasPhases() && event.clientY - this.canvas.getBoundingClientRect().top >= this.count * this.height + AXIS_HEIGHT;
    }

    // The slices around this one that are of its phase: from the first to behind the last.
    phaseRun(slice) {
        const at = Math.min(slice, data.slices - 1);
        let from = at, to = at + 1;
        while (from > 0 && data.phases[from - 1] === data.phases[at])
            from--;
        while (to < data.slices && data.phases[to] === data.phases[at])
            to++;
        return [from, to];
    }

    drawPhases(paint, width) {
        for (let at = 0, [from, to] = this.phaseRun(0); at < data.slices && this.hasPhases(); at = to, [from, to] = this.phaseRun(at)) {
            const x = from / data.slices * width, length = (to - from) / data.slices * width, phase = data.phases[at];
            paint.fillStyle = phase ? `hsl(${phase * 137.5 % 360} 55% 60%)` : "transparent"; // neighbours in number are far apart in colour
            paint.fillRect(x, this.count * this.height + AXIS_HEIGHT, length, PHASES_HEIGHT);
            paint.fillStyle = "#000";
            if (length > 18 && phase)
                paint.fillText(String(phase), x + 3, this.count * this.height + AXIS_HEIGHT + PHASES_HEIGHT - 2);
        }
    }

    // Of each row, slice and state what there is of it; of each row how much a slice can have at most.
    addUp() {
        const states = data.states.length || 1, slices = data.slices, values = entries.values[filter.metric], sums = new Float64Array(this.count * slices * states);
        for (let i = 0; i < values.length; i++) {
            const span = entries.span ? entries.span[i] : 1;
            for (const row of values[i] && passesAnyTime(i) ? this.rows[entries.thread[i]] : [])
                for (let slice = entries.slice[i]; slice < entries.slice[i] + span; slice++)
                    sums[(row * slices + slice) * states + stateOf(i)] += values[i] / span;
        }
        this.sums = Array.from({ length: this.count }, (_, row) => Array.from({ length: slices }, (_, slice) => sums.subarray((row * slices + slice) * states, (row * slices + slice + 1) * states)));
        const whole = this.sums.map(row => row.reduce((most, of) => Math.max(most, of.reduce((sum, value) => sum + value, 0)), 0)), most = Math.max(...whole);
        const isTime = data.states.length && data.metrics[filter.metric][1] === "ns", threads = new Uint32Array(this.count);
        this.rows.forEach(rows => rows.forEach(row => threads[row]++));
        this.full = whole.map((_, row) => isTime ? threads[row] * data.nanoseconds / slices : most);
    }

    draw() {
        this.rows = this.pickThreads();
        this.addUp();
        const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.count * this.height + AXIS_HEIGHT + (this.hasPhases() ? PHASES_HEIGHT : 0);
        const style = getComputedStyle(document.documentElement), fore = style.getPropertyValue("--fore"), soft = style.getPropertyValue("--soft");
        this.canvas.style.height = height + "px";
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const paint = this.canvas.getContext("2d");
        paint.scale(ratio, ratio);
        const [from, to] = this.selection || [filter.from, filter.to], slice = width / data.slices;
        for (let row = 0; row < this.count; row++) {
            for (let s = 0; s < data.slices; s++)
                this.drawSlice(paint, row, s, slice, s >= from && s < to);
            paint.fillStyle = soft;
            paint.fillRect(0, (row + 1) * this.height - 1, width, 0.5);
            paint.font = "11px monospace";
            paint.globalAlpha = 0.75; // what is behind the name can still be seen
            paint.fillStyle = style.getPropertyValue("--back");
            paint.fillRect(1, row * this.height + 1, paint.measureText(this.names[row] || "").width + 4, 13);
            paint.globalAlpha = 1;
            paint.fillStyle = fore;
            paint.fillText(this.names[row] || "", 3, row * this.height + 11);
        }
        this.drawAxis(paint, width, soft);
        this.drawPhases(paint, width);
        this.tell(from, to);
        fillStates(document.getElementById("states"));
    }

    drawSlice(paint, row, s, width, isSelected) {
        const ratio = window.devicePixelRatio || 1, snap = x => Math.round(x * ratio) / ratio; // no gaps between slices that have the same state
        const bottom = (row + 1) * this.height - 1, height = this.height - (data.states.length ? 2 : 4), [own] = this.sums[row][s];
        paint.globalAlpha = isSelected || !data.states.length ? 1 : 0.3;
        paint.fillStyle = isSelected ? "#e0702a" : "#9b9b9b";
        if (data.states.length)
            drawStates(paint, this.sums[row][s], this.full[row], snap(s * width), snap((s + 1) * width) - snap(s * width), bottom, height);
        else if (own)
            paint.fillRect(s * width, bottom - own / this.full[row] * height, Math.max(width - 0.3, 0.7), own / this.full[row] * height);
        paint.globalAlpha = 1;
    }

    // Round times, as many as have room.
    drawAxis(paint, width, colour) {
        const y = this.count * this.height;
        paint.fillStyle = colour;
        this.ticks = timeTicks(data.nanoseconds, Math.max(2, Math.floor(width / 90)));
        for (const [ns, label] of this.ticks) {
            const x = ns / data.nanoseconds * width, room = paint.measureText(label).width;
            paint.fillRect(Math.min(x, width - 1), y, 1, 5);
            paint.fillText(label, Math.max(0, Math.min(x - room / 2, width - room)), y + AXIS_HEIGHT - 3);
        }
    }

    tell(from, to) {
        const all = from <= 0 && to >= data.slices, whole = entries.values[filter.metric].reduce((sum, value) => sum + value, 0);
        document.getElementById("range").textContent = (all ? `${formatTime(data.slices)} in all; drag to select a part`
            : `${formatTime(from)} to ${formatTime(to)}: only these samples count (click or Esc: all)`) +
            (weights.total[0] < whole && !this.selection ? `; the filters leave ${formatShare(weights.total[0], whole)} of all, ${formatWeight(weights.total[0])}` : "");
    }

    tellSlice(sums) {
        const told = data.states.map((name, state) => sums[state] ? `${formatWeight(sums[state])} ${name}` : "").filter(text => text);
        return told.length ? told.join(", ") : formatWeight(sums[0]);
    }

    // What a thread did at the time under the pointer.
    hover(event) {
        const bounds = this.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - bounds.top) / this.height);
        const slice = Math.min(data.slices - 1, Math.floor((event.clientX - bounds.left) / bounds.width * data.slices));
        if (slice >= 0 && this.isInPhases(event)) {
            const [from, to] = this.phaseRun(slice), share = data.phases.filter(phase => phase === data.phases[slice]).length / data.slices;
            fillTip(event.clientX, event.clientY, [["b", `phase ${data.phases[slice]}`],
                ["div", `${formatTime(from)} to ${formatTime(to)}; ${(100 * share).toFixed(1)}% of the time (fathom phases lists them; click to see it alone)`]]);
            return;
        }
        if (row < 0 || row >= this.count || slice < 0)
            return;
        fillTip(event.clientX, event.clientY, [["b", this.names[row] || "?"],
            ["div", `${formatTime(slice)}: ${this.tellSlice(this.sums[row][slice])} in ${formatTime(1)}`]]);
    }
}
