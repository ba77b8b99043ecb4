// lists.js - hot contexts and functions as tables.
const MOST_ROWS = 500;
const order = { contexts: "self", functions: "self" };

function cell(row, text, number) {
    const td = textElement(row, "td", text);
    td.className = number ? "number" : "";
    return td;
}

function tableOf(columns, sorted, onSort) {
    const table = document.createElement("table"), head = document.createElement("tr");
    for (const [key, title] of columns) {
        const th = document.createElement("th");
        th.scope = "col";
        if (key) {
            const button = textElement(th, "button", title + (key === sorted ? " ▾" : ""));
            button.addEventListener("click", () => onSort(key));
            th.setAttribute("aria-sort", key === sorted ? "descending" : "none");
        } else {
            th.textContent = title;
        }
        head.append(th);
    }
    table.append(head);
    return table;
}

function appendName(td, frame) {
    const name = frames[frame][0], short = shortenName(name, 80), shown = short.length > 200 ? short.slice(0, 199) + "…" : short;
    const element = textElement(td, isMatch(frame) ? "mark" : "span", shown);
    if (shown !== name)
        element.title = name.slice(0, 2000);
}

// A row that a click or Enter opens. One row is in the order of Tab, and arrows move from it.
function openable(tr, open) {
    tr.tabIndex = -1;
    tr.addEventListener("click", open);
    tr.addEventListener("keydown", e => {
        const next = e.key === "ArrowDown" ? tr.nextElementSibling : e.key === "ArrowUp" ? tr.previousElementSibling : null;
        if (e.key === "Enter")
            open();
        if (!next || !next.hasAttribute("tabindex"))
            return;
        e.preventDefault();
        tr.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
    });
}

function showTable(list, table) {
    list.replaceChildren(table);
    const first = table.querySelector("tr[tabindex]");
    if (first)
        first.tabIndex = 0;
}

// From its function outwards.
function cellOfPath(tr, context) {
    const td = cell(tr, ""), path = pathOf(context).reverse();
    td.className = "path";
    path.slice(0, 40).forEach((at, n) => {
        if (n)
            textElement(td, "span", " ← ").className = "outer";
        appendName(td, contexts.frame[at]);
    });
    if (path.length > 40)
        textElement(td, "span", ` ← ... ${path.length - 40} more`).className = "outer";
}

function cellsOfFunction(tr, frame) {
    const td = cell(tr, "");
    td.className = "path";
    appendName(td, frame);
    cell(tr, frames[frame][1]);
}

function listContexts(list, onOpen, redraw) {
    if (changes) {
        listChanges(list, changes.paths, ["Context, from its function outwards"], cellOfPath, onOpen);
        return;
    }
    const whole = weights.total[0], rows = [];
    for (let i = 1; i < contextCount; i++)
        if (weights.self[i] > 0 && (matcher === null || pathOf(i).some(at => isMatch(contexts.frame[at]))))
            rows.push(i);
    const by = order.contexts === "self" ? i => weights.self[i] : order.contexts === "total" ? i => weights.total[i] : i => -weights.doubt[i] / weights.total[i];
    rows.sort((a, b) => by(b) - by(a));
    const table = tableOf([["self", "Self"], ["total", "Total"], ["sure", "Sure"], ["", "Context, from its function outwards"]], order.contexts, key => { order.contexts = key; redraw(); });
    for (const i of rows.slice(0, MOST_ROWS)) {
        const tr = document.createElement("tr");
        cell(tr, formatShare(weights.self[i], whole), true).title = formatWeight(weights.self[i]);
        cell(tr, formatShare(weights.total[i], whole), true);
        cell(tr, (100 * Math.max(0, 1 - weights.doubt[i] / weights.total[i])).toFixed(0) + "%", true);
        cellOfPath(tr, i);
        openable(tr, () => onOpen(i));
        table.append(tr);
    }
    showTable(list, table);
    if (rows.length > MOST_ROWS)
        textElement(list, "p", `... ${rows.length - MOST_ROWS} more contexts`);
}

function listFunctions(list, onOpen, redraw) {
    if (changes) {
        listChanges(list, changes.totals, ["Function", "File"], cellsOfFunction, onOpen);
        return;
    }
    const whole = weights.total[0], rows = functionWeights().filter(f => !isLevel(f.frame) && (matcher === null || isMatch(f.frame)));
    rows.sort((a, b) => b[order.functions] - a[order.functions]);
    const table = tableOf([["self", "Self"], ["total", "Total"], ["", "Function"], ["", "File"]], order.functions, key => { order.functions = key; redraw(); });
    for (const f of rows.slice(0, MOST_ROWS)) {
        const tr = document.createElement("tr");
        cell(tr, formatShare(f.self, whole), true).title = formatWeight(f.self);
        cell(tr, formatShare(f.total, whole), true).title = formatWeight(f.total);
        cellsOfFunction(tr, f.frame);
        openable(tr, () => onOpen(f.frame));
        table.append(tr);
    }
    showTable(list, table);
    if (rows.length > MOST_ROWS)
        textElement(list, "p", `... ${rows.length - MOST_ROWS} more functions`);
}
