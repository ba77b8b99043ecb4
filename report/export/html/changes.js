// changes.js - of a page that compares A with B: what changed, and its colours. Otherwise `changes` is null.
//
// Lists by number of a context (paths) or frame (selves, totals): [a, b, bound, called, unclear]; called: 1 is more, -1 less, 0 no
// more than chance, or if unclear, what these recordings cannot tell from it. a and b are shares, or weights (absolute; those of
// `whole` always are).
const changes = recording.changes || null;

function changeOf(box) {
    return typeof box.key === "number" ? changes.paths[box.key] : changes.totals[box.frame];
}

function formatValue(value) {
    return changes.absolute ? formatWeight(value) : formatShare(value, 1);
}

// The bound of what is unclear says little.
function formatChange([a, b, bound, , unclear], absolute = changes.absolute) {
    const far = Math.abs(b - a), digits = far < 0.00995 ? 2 : 1, sign = b < a ? "−" : "+";
    const format = value => absolute ? formatWeight(value) : (100 * value).toFixed(digits);
    return sign + format(far) + (absolute ? "" : "%") + (unclear ? " ?" : ` ±${format(bound)}`);
}

function tellChange(change) {
    const values = `A ${formatValue(change[0])}, B ${formatValue(change[1])}`;
    return change[3] ? `${values}: ${formatChange(change)}` : change[4] ? `${values}: these recordings cannot tell (${formatChange(change)})` :
        change[2] ? `${values}: no more than chance (${formatChange(change)})` : values;
}

// What all weighs, which shares do not show.
function tellWhole() {
    const [a, b, bound, called, unclear] = changes.whole;
    if (!bound && a === b)
        return "";
    if (unclear)
        return `B has ${(b / a).toFixed(2)} times the weight of A: ${formatChange(changes.whole, true)} (how much runs differ by chance, these recordings cannot tell). `;
    return (called ? `B has ${(b / a).toFixed(2)} times the weight of A: ` : "The weights differ by no more than chance: ") +
        formatChange(changes.whole, true) + ". ";
}

// Red is more, blue less; the stronger, the more of it is new or gone. Grey: chance can do it.
function changeColour(change) {
    const dark = document.documentElement.classList.contains("dark"), [a, b, , called] = change;
    if (!called)
        return dark ? "#45464b" : "#dedede";
    const part = Math.sqrt(Math.abs(b - a) / Math.max(a, b));
    return called > 0 ? `hsl(4 ${50 + 40 * part}% ${dark ? 30 + 14 * part : 84 - 26 * part}%)` : `hsl(214 ${50 + 40 * part}% ${dark ? 30 + 16 * part : 84 - 24 * part}%)`;
}

// Contexts (by number) or functions (by frame) that were compared, the farthest change first, and those within chance last.
function listChanges(list, which, columns, fillName, onOpen) {
    const rows = [];
    const inPaths = which === changes.paths, matches = i => inPaths ? pathOf(i).some(at => isMatch(contexts.frame[at])) : isMatch(i);
    which.forEach((change, i) => { if (change[2] && (i || !inPaths) && (matcher === null || matches(i))) rows.push(i); });
    rows.sort((x, y) => Math.abs(which[y][3]) - Math.abs(which[x][3]) || Math.abs(which[y][1] - which[y][0]) - Math.abs(which[x][1] - which[x][0]));
    const called = rows.filter(i => which[i][3]).length;
    const table = tableOf([["", "A"], ["", "B"], ["", "Change"], ...columns.map(title => ["", title])], "", () => {});
    for (const i of rows.slice(0, MOST_ROWS)) {
        const tr = document.createElement("tr");
        cell(tr, formatValue(which[i][0]), true);
        cell(tr, formatValue(which[i][1]), true);
        cell(tr, formatChange(which[i]), true).classList.add(which[i][3] > 0 ? "more" : which[i][3] < 0 ? "less" : "chance");
        fillName(tr, i);
        openable(tr, () => onOpen(i));
        table.append(tr);
    }
    showTable(list, table);
    if (rows.length > MOST_ROWS)
        textElement(list, "p", `... ${rows.length - MOST_ROWS} more`);
    const said = textElement(list, "p", `${called ? called.toLocaleString("en") : "None"} of these ${rows.length.toLocaleString("en")} changed by more than chance` +
        (called < rows.length ? "; grey: chance can do it, or with ?, these recordings cannot tell." : "."));
    list.prepend(said);
}

// What a page of one recording has, and this one has not, goes.
function fillChanges() {
    document.title = "Difference - Fathom";
    byId("command").textContent = `A: ${data.metrics[1][0]}   B: ${data.metrics[2][0]}`;
    byId("summary").textContent = `Change from A to B of ${data.event}, in ${changes.absolute ? "weights of a recording" : "shares of the weight"}`;
    byId("certainty").textContent = `${tellWhole()}${changes.called} of ${changes.compared} contexts and functions changed by more than chance` +
        (changes.unclear ? `; of ${changes.unclear} more (with ?) these recordings cannot tell` : "");
    ["A and B", "A", "B"].forEach((name, number) => byId("metric").append(new Option(name, number)));
    byId("metric").previousSibling.textContent = "Width ";
    for (const id of ["thread", "sure", "space", "language", "colours", "inverted", "folded", "view-code", "key-code", "sandwich-code"])
        (byId(id).closest("label") || byId(id)).hidden = true;
    byId("time").hidden = true;
    byId("legend").textContent = "Red: more in B. Blue: less. The stronger, the larger a part of it. Grey: no more than chance.";
}
