// states.js - what threads do over time: they run, could run but have no CPU, or wait for something. data.states: their names, by number, where samples tell them
// (record --off-cpu, --wall); otherwise empty.

// Each can be told from what is behind it, light and dark.
const stateColours = ["#2f9e44", "#b98900", "#e03131", "#868e96", "#1c7ed6", "#ae3ec9", "#0c8599", "#a0613a", "#6c5ce7"];

function stateOf(i) {
    return entries.state ? entries.state[i] : 0;
}

// One with most of a slice has most of a bar, from below by number; together they are no higher than `full`.
function drawStates(paint, sums, full, x, width, bottom, height) {
    const whole = Math.max(full, sums.reduce((sum, value) => sum + value, 0));
    for (let state = 0, below = 0; state < sums.length && whole; below += sums[state++]) {
        paint.fillStyle = stateColours[state];
        paint.fillRect(x, bottom - (below + sums[state]) / whole * height, width, sums[state] / whole * height);
    }
}

// How much of what is selected is of which state.
function fillStates(legend) {
    const sums = new Float64Array(data.states.length);
    entries.context.forEach((_, i) => { sums[stateOf(i)] += shownValue(i); });
    legend.replaceChildren();
    data.states.forEach((name, state) => {
        if (!sums[state])
            return;
        const item = textElement(legend, "span", "");
        textElement(item, "i", "").style.background = stateColours[state];
        item.append(`${name} ${formatShare(sums[state], weights.total[0])}, ${formatWeight(sums[state])}`);
    });
}
