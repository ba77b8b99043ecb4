// timeline.js - the samples of each thread over time; what is selected there filters everything else.
const THREAD_ROWS = 8, THREAD_HEIGHT = 22;

class Timeline {
    constructor(canvas, onChange) {
        this.canvas = canvas;
        this.onChange = onChange;
        this.rows = this.pickThreads();
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
            this.set(from, to - from >= 2 ? to : from); // a click clears it
        });
        canvas.addEventListener("keydown", e => this.key(e));
    }

    // Threads with the most samples have a row each; the others, and those with less than 1%, share the last one.
    pickThreads() {
        const counts = data.threads.map((_, thread) => ({ thread, count: 0 }));
        for (let i = 0; i < entries.thread.length; i++)
            counts[entries.thread[i]].count++;
        counts.sort((a, b) => b.count - a.count);
        const own = counts.filter(c => c.count * 100 >= entries.thread.length).length;
        const shown = counts.length <= Math.min(own + 1, THREAD_ROWS) ? counts.length : Math.min(own, THREAD_ROWS - 1);
        const rows = new Array(data.threads.length).fill(shown);
        counts.slice(0, shown).forEach((c, row) => { rows[c.thread] = row; });
        this.count = Math.max(1, shown + (counts.length > shown ? 1 : 0));
        this.names = [];
        data.threads.forEach(([pid, tid, name], thread) => {
            const row = rows[thread];
            this.names[row] = this.names[row] ? "other threads" : `${name || "?"} ${tid}`;
        });
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

    draw() {
        const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.count * THREAD_HEIGHT;
        const style = getComputedStyle(document.documentElement), fore = style.getPropertyValue("--fore"), soft = style.getPropertyValue("--soft");
        this.canvas.style.height = height + "px";
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const paint = this.canvas.getContext("2d"), sums = new Float64Array(this.count * data.slices), values = entries.values[filter.metric];
        paint.scale(ratio, ratio);
        for (let i = 0; i < values.length; i++)
            if (passesAnyTime(i))
                sums[this.rows[entries.thread[i]] * data.slices + entries.slice[i]] += values[i];
        let most = 0;
        for (const sum of sums)
            most = Math.max(most, sum);
        const [from, to] = this.selection || [filter.from, filter.to], slice = width / data.slices;
        for (let row = 0; row < this.count; row++) {
            for (let s = 0; s < data.slices; s++) {
                const part = most ? sums[row * data.slices + s] / most * (THREAD_HEIGHT - 4) : 0;
                paint.fillStyle = s >= from && s < to ? "#e0702a" : "#9b9b9b";
                if (part)
                    paint.fillRect(s * slice, (row + 1) * THREAD_HEIGHT - 1 - part, Math.max(slice - 0.3, 0.7), part);
            }
            paint.fillStyle = soft;
            paint.fillRect(0, (row + 1) * THREAD_HEIGHT - 1, width, 0.5);
            paint.font = "11px monospace";
            paint.globalAlpha = 0.75; // what is behind the name can still be seen
            paint.fillStyle = style.getPropertyValue("--back");
            paint.fillRect(1, row * THREAD_HEIGHT + 1, paint.measureText(this.names[row] || "").width + 4, 13);
            paint.globalAlpha = 1;
            paint.fillStyle = fore;
            paint.fillText(this.names[row] || "", 3, row * THREAD_HEIGHT + 11);
        }
        this.sums = sums;
        this.tell(from, to);
    }

    tell(from, to) {
        const all = from <= 0 && to >= data.slices, whole = entries.values[filter.metric].reduce((sum, value) => sum + value, 0);
        document.getElementById("range").textContent = (all ? `${formatTime(data.slices)} in all; drag to select a part`
            : `${formatTime(from)} to ${formatTime(to)}: only these samples count (click or Esc: all)`) +
            (weights.total[0] < whole && !this.selection ? `; the filters leave ${formatShare(weights.total[0], whole)} of all, ${formatWeight(weights.total[0])}` : "");
    }

    // What a thread did at the time under the pointer.
    hover(event) {
        const bounds = this.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - bounds.top) / THREAD_HEIGHT);
        const slice = Math.min(data.slices - 1, Math.floor((event.clientX - bounds.left) / bounds.width * data.slices));
        if (row < 0 || row >= this.count || slice < 0)
            return;
        fillTip(event.clientX, event.clientY, [["b", this.names[row] || "?"],
            ["div", `${formatTime(slice)}: ${formatWeight(this.sums[row * data.slices + slice])} in ${formatTime(1)}`]]);
    }
}
