// main.js - what is shown, and what the user does with it.
const byId = id => document.getElementById(id);
const views = { i: "icicle", f: "flame", s: "sandwich", c: "contexts", u: "functions", a: "code" };
const state = { view: "icicle", zoom: 0, callers: "", frame: -1 }; // callers: the zoom of an inverted graph (nodeBoxes())

const lower = new Graph(byId("lower"), zoomInto, tellPath), upper = new Graph(byId("upper"), zoomInto, tellPath);
upper.up = true;
const timeline = new Timeline(byId("timeline"), () => { weigh(); draw(); });

function tellPath(box) {
    const path = byId("path");
    path.replaceChildren();
    if (!box)
        return;
    const inTree = typeof box.key === "number", shown = at => shortenName(nameOf(at), 60);
    const keys = inTree || state.view === "sandwich" ? [] : box.key.split("/").slice(1);
    const name = keys.length ? keys.map(frame => shortenName(frames[frame][0], 60)).join(" ← ") : box.frame < 0 ? "all" : inTree ? (box.key ? pathOf(box.key).map(shown).join(" → ") : "all") : shortenName(frames[box.frame][0], 60);
    path.textContent = name + ": " + tellWeight(box, weights.total[0]);
    if (box.frame < 0)
        return;
    if (state.view !== "sandwich")
        textElement(path, "button", "Callers, callees").addEventListener("click", () => { state.frame = box.frame; setView("sandwich"); });
    if (!changes)
        textElement(path, "button", "Code").addEventListener("click", () => showCode(box.frame, inTree ? box.key : 0));
}

// The code of a function, in one of its contexts (0: in all).
function showCode(frame, context) {
    shownCode.missing = chooseCode(frame, context) ? "" : frames[frame][0];
    state.view = "code";
    draw();
}

function zoomInto(box) {
    if (state.view === "sandwich")
        state.frame = box.frame;
    else if (typeof box.key === "string")
        state.callers = box.key;
    else
        state.zoom = box.key;
    draw();
}

function setView(view) {
    if (view === "code" && changes)
        return;
    if (view === "code" && state.view !== "code") {
        const box = state.view === "sandwich" ? null : lower.selected && lower.selected.frame >= 0 ? lower.selected : null;
        const context = box && typeof box.key === "number" ? box.key : state.view === "sandwich" ? 0 : state.zoom, frame = context ? contexts.frame[context] : state.view === "sandwich" ? state.frame : -1;
        if (frame >= 0) {
            showCode(frame, context);
            return;
        }
        shownCode.missing = "";
    }
    if (view === "sandwich" && state.frame < 0) {
        const selected = lower.selected && lower.selected.frame >= 0 ? lower.selected.frame : state.zoom ? contexts.frame[state.zoom] : -1;
        const hottest = functionWeights().filter(f => kindOf(f.frame) === Kind.FUNCTION).sort((a, b) => b.self - a.self)[0];
        state.frame = selected >= 0 ? selected : hottest ? hottest.frame : -1;
    }
    state.view = view;
    draw();
}

// The share of what has a match anywhere on its path.
function tellMatch() {
    let share = 0;
    const inside = new Uint8Array(contextCount);
    for (let i = 1; i < contextCount && matcher !== null; i++) {
        const own = isMatch(contexts.frame[i]);
        if (own && !inside[contexts.parent[i]])
            share += weights.total[i];
        inside[i] = own || inside[contexts.parent[i]] ? 1 : 0;
    }
    byId("match").textContent = matcher === null ? "" : `matched ${formatShare(share, weights.total[0])}`;
}

// The function whose callers are above, and callees below.
function fillSandwich() {
    const functions = functionWeights().sort((a, b) => b.total - a.total), whole = weights.total[0];
    const shown = functions.find(f => f.frame === state.frame) || { frame: state.frame, self: 0, total: 0 };
    const rows = functions.filter(f => !isLevel(f.frame)).slice(0, MOST_ROWS);
    if (!rows.includes(shown))
        rows.push(shown);
    fillOptions(byId("sandwich-function"), rows.map(f => [f.frame, `${formatShare(f.total, whole)} ${shortenName(frames[f.frame][0], 80)}`]), state.frame);
    byId("sandwich-said").textContent = changes ? tellChange(changes.totals[state.frame])
        : `total ${formatShare(shown.total, whole)}, ${formatWeight(shown.total)}; its own ${formatShare(shown.self, whole)}, ${formatWeight(shown.self)}`;
}

function drawGraphs() {
    const width = byId("lower").clientWidth, whole = weights.total[0];
    byId("middle").hidden = state.view !== "sandwich" || state.frame < 0;
    upper.clear();
    lower.up = state.view === "flame";
    if (state.view !== "sandwich" && byId("inverted").checked) {
        lower.show(nodeBoxes(invertedTree(), width, state.callers), whole);
        return;
    }
    if (state.view !== "sandwich") {
        lower.show(contextBoxes(state.zoom, width), whole);
        return;
    }
    if (state.frame < 0) {
        lower.clear();
        return;
    }
    fillSandwich();
    upper.show(nodeBoxes(callersOf(state.frame), width), whole);
    lower.show(nodeBoxes(calleesOf(state.frame), width), whole);
}

function draw() {
    const isList = state.view === "contexts" || state.view === "functions", isCode = state.view === "code";
    for (const view of Object.values(views))
        byId("view-" + view).setAttribute("aria-selected", String(view === state.view));
    byId("graph").hidden = isList || isCode;
    byId("path").hidden = isList || isCode;
    byId("code").hidden = !isCode;
    byId("list").hidden = !isList;
    hideTip();
    if (state.view === "contexts")
        listContexts(byId("list"), context => { state.zoom = context; setView("icicle"); }, draw);
    else if (state.view === "functions")
        listFunctions(byId("list"), frame => { state.frame = frame; setView("sandwich"); }, draw);
    else if (isCode)
        drawCode();
    else
        drawGraphs();
    tellMatch();
    if (!changes)
        timeline.draw();
    writeAddress();
}

function search(text) {
    byId("search").setCustomValidity("");
    try {
        matchesFiles = text.startsWith("file:");
        const expression = matchesFiles ? text.slice(5) : text;
        matcher = expression ? new RegExp(expression, "i") : null;
    } catch (error) {
        matcher = null;
        byId("search").setCustomValidity("no regular expression");
    }
    draw();
}

function reset() {
    state.zoom = 0;
    state.callers = "";
    lower.selected = null;
    tellPath(null);
    if (filter.from > 0 || filter.to < data.slices)
        timeline.set(0, 0);
    else
        draw();
}

function setTheme(dark) {
    document.documentElement.classList.toggle("dark", dark);
    colours.clear();
}

// Time, or what the event counts.
function metricName([name, unit]) {
    return name !== "weight" ? `${name} (${unit})` : unit === "ns" ? "time" : unit;
}

// What is told of the event that is shown.
function fillEvent() {
    const share = weight => formatShare(weight, data.weight);
    byId("summary").textContent = `${data.samples.toLocaleString("en")} ${data.samples === 1 ? "sample" : "samples"} of ${data.event || "?"}` +
        (data.leftOut ? `; ${formatShare(data.leftOut, data.leftOut + data.weight)} of the weight was left out by the options` : "") +
        (data.bounded ? "; counted in bounded memory (report --phi): contexts of little weight are in \"all\" alone, and times, threads, certainties and code are left out" : "") +
        (data.lost ? `; ${data.lost.toLocaleString("en")} records were lost` : "") +
        (data.notInlined ? `; functions inlined in ${data.notInlined.toLocaleString("en")} ${data.notInlined === 1 ? "file" : "files"} with much debug information are not shown (report --inline)` : "");
    byId("certainty").textContent = `Paths: ${share(data.proved)} proved, ${share(data.inferred)} inferred, ${share(data.unknown)} unknown; ` +
        (data.expectedBy === "nothing" ? "not known how much is on the right path"
            : `${data.expectedBy === "slices" ? "no more than " : ""}${share(data.expected)} expected on the right path`) +
        (data.partial ? `; ${share(data.partial)} have their innermost callers alone, below a root in brackets that says why` : "");
    fillOptions(byId("metric"), data.metrics.map((metric, number) => [number, metricName(metric)]), 0);
    byId("timeline").hidden = byId("range").hidden = byId("thread").closest("label").hidden = byId("sure").closest("label").hidden = !!data.bounded;
    byId("space").closest("label").hidden = !data.contexts.frame.some(frame => kindOf(frame) === Kind.KERNEL);
    const kinds = new Set(data.contexts.frame.map(kindOf));
    byId("language").closest("label").hidden = !kinds.has(Kind.SCRIPT) || !kinds.has(Kind.FUNCTION);
    fillThreads();
}

// Threads and, if there are several of several threads, processes: by number, and as "p" with the PID.
function fillThreads() {
    const processes = new Map();
    for (const [pid, tid, name] of data.threads) {
        const known = processes.get(pid) || { count: 0, name };
        processes.set(pid, { count: known.count + 1, name: pid === tid ? name : known.name });
    }
    const several = processes.size > 1 ? [...processes].filter(([, process]) => process.count > 1) : [];
    fillOptions(byId("thread"), [["all", "all"], ...several.map(([pid, { count, name }]) => ["p" + pid, `process ${name || "?"} ${pid}, ${count} threads`]),
        ...data.threads.map(([pid, tid, name], number) => [String(number), `${name || "?"} ${tid}` + (pid === tid ? "" : ` of ${pid}`)])], "all");
}

function chooseThreads(choice) {
    const numbers = data.threads.map((_, number) => number);
    filter.threads = choice === "all" || !choice ? null : new Set(numbers.filter(n => choice === String(n) || choice === "p" + data.threads[n][0]));
}

function fill() {
    document.title = data.command ? data.command + " - Fathom" : "Fathom";
    byId("command").textContent = data.command || "";
    byId("event").closest("label").hidden = events.length < 2;
    fillOptions(byId("event"), events.map((event, number) => [number, event.event]), 0);
    fillEvent();
}

// The context of the event with the same names, or the nearest caller that there is.
function sameContext(names) {
    let at = 0;
    for (let i = 1; i < contextCount && names.length; i++)
        if (contexts.parent[i] === at && frames[contexts.frame[i]][0] === names[0]) {
            names.shift();
            at = i;
        }
    return at;
}

// Another event's samples, as far as possible of the same thread, context and function. All events have the same time.
function changeEvent(number) {
    const names = pathOf(state.zoom).map(nameOf), frame = state.frame >= 0 ? frames[state.frame].join() : null;
    const choice = byId("thread").value, thread = choice === "all" || choice[0] === "p" ? null : data.threads[choice];
    const code = shownCode.event >= 0 && shownCode.number >= 0 ? shownCode.functions[shownCode.number] : null;
    useEvent(number);
    filter.metric = 0;
    state.zoom = sameContext(names);
    state.callers = "";
    state.frame = frame === null ? -1 : frames.findIndex(f => f.join() === frame);
    lower.selected = upper.selected = null;
    tellPath(null);
    colours.clear();
    fillEvent();
    byId("thread").value = thread ? String(data.threads.findIndex(t => t[0] === thread[0] && t[1] === thread[1])) : choice;
    if (byId("thread").selectedIndex < 0)
        byId("thread").value = "all"; // the event has no sample of it
    chooseThreads(byId("thread").value);
    readCode();
    shownCode.number = code ? shownCode.functions.findIndex(f => f.name === code.name && f.image === code.image) : -1;
    weigh();
    draw();
}

// Contexts have other numbers then.
function rearrange(folded, language) {
    if (filter.folded === folded && filter.language === language)
        return;
    const zoomed = shownAs.indexOf(state.zoom);
    Object.assign(filter, { folded, language });
    arrange();
    state.zoom = shownAs[zoomed] || 0;
    lower.selected = upper.selected = null;
    tellPath(null);
    const { number } = shownCode;
    shownCode.event = -1;
    readCode();
    shownCode.number = number;
}

// What is shown, in the address: a link to it can be sent. Names of what is in it are those of the controls.
const controls = ["metric", "thread", "sure", "space", "language", "colours"], boxesToTick = ["inverted", "folded"];

function useControls() {
    filter.metric = Number(byId("metric").value);
    chooseThreads(byId("thread").value);
    filter.sure = Number(byId("sure").value);
    filter.user = byId("space").value === "user";
    byLibrary = byId("colours").value === "library";
    colours.clear();
    rearrange(byId("folded").checked, byId("language").value);
    weigh();
    draw();
}

function writeAddress() {
    const address = new URLSearchParams(), put = (name, value, usual) => { if (String(value) !== String(usual)) address.set(name, value); };
    put("event", filter.event, 0);
    put("view", state.view, "icicle");
    put("zoom", state.zoom, 0);
    put("callers", state.callers, "");
    put("function", state.view === "sandwich" ? state.frame : -1, -1);
    for (const id of controls)
        put(id, byId(id).value, byId(id).options.length ? byId(id).options[0].value : "");
    for (const id of boxesToTick)
        put(id, byId(id).checked, false);
    put("search", byId("search").value, "");
    put("from", filter.from, 0);
    put("to", filter.to, data.slices);
    try {
        history.replaceState(null, "", "#" + address);
    } catch {} // a browser may allow only so many in a time
}

function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const number = (name, usual, end) => /^\d+$/.test(address.get(name)) && Number(address.get(name)) < end ? Number(address.get(name)) : usual;
    const event = number("event", 0, events.length);
    if (event !== filter.event) {
        byId("event").value = event;
        changeEvent(event);
    }
    for (const id of controls) {
        byId(id).value = address.get(id);
        if (byId(id).selectedIndex < 0)
            byId(id).selectedIndex = 0;
    }
    for (const id of boxesToTick)
        byId(id).checked = address.get(id) === "true" && !changes;
    filter.from = number("from", 0, data.slices);
    filter.to = number("to", data.slices, data.slices + 1);
    if (filter.from >= filter.to)
        [filter.from, filter.to] = [0, data.slices];
    byId("search").value = address.get("search") || "";
    const zoom = number("zoom", 0, data.contexts.parent.length), callers = address.get("callers") || "", view = address.get("view");
    const frame = number("function", -1, frames.length);
    useControls();
    state.zoom = zoom < contextCount ? zoom : 0;
    state.callers = /^(\/\d+)*$/.test(callers) && callers.split("/").slice(1).every(at => Number(at) < frames.length) ? callers : "";
    state.frame = frame;
    if (byId("search").value)
        search(byId("search").value);
    setView(Object.values(views).includes(view) && !(changes && view === "code") ? view : "icicle");
}

// To the next of what is looked for, or the one before.
function goOn(step) {
    if (state.view === "code")
        nextHot(step);
    else if (!byId("graph").hidden)
        lower.nextMatch(step);
}

function listen() {
    for (const view of Object.values(views))
        byId("view-" + view).addEventListener("click", () => setView(view));
    byId("event").addEventListener("change", e => changeEvent(Number(e.target.value)));
    byId("code-function").addEventListener("change", e => { Object.assign(shownCode, { number: Number(e.target.value), context: 0, missing: "" }); drawCode(); });
    byId("code-context").addEventListener("change", e => { shownCode.context = Number(e.target.value); drawCode(); });
    for (const id of [...controls, ...boxesToTick])
        byId(id).addEventListener("change", useControls);
    window.addEventListener("hashchange", readAddress);
    byId("search").addEventListener("input", e => search(e.target.value));
    byId("sandwich-function").addEventListener("change", e => { state.frame = Number(e.target.value); draw(); });
    byId("sandwich-code").addEventListener("click", () => showCode(state.frame, 0));
    byId("reset").addEventListener("click", reset);
    byId("theme").addEventListener("click", () => { setTheme(!document.documentElement.classList.contains("dark")); draw(); });
    window.addEventListener("resize", draw);
    document.addEventListener("keydown", event => {
        const typing = /^(INPUT|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
        if (event.target === byId("search") && /^(Escape|Enter)$/.test(event.key)) {
            if (event.key === "Escape") {
                event.target.value = "";
                search("");
            }
            event.target.blur();
        } else if (event.key === "Escape") {
            reset();
        } else if (typing || event.altKey || event.ctrlKey || event.metaKey)
            return;
        else if (event.key === "/") {
            byId("search").focus();
            event.preventDefault();
        } else if (event.key === "n" || event.key === "p")
            goOn(event.key === "n" ? 1 : -1);
        else if (views[event.key])
            setView(views[event.key]);
    });
}

setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
(changes ? fillChanges : fill)();
listen();
readAddress();
