// main.js - what is shown, and what the user does with it.
const byId = id => document.getElementById(id);
const views = { i: "icicle", f: "flame", s: "sandwich", c: "contexts", u: "functions" };
const state = { view: "icicle", zoom: 0, frame: -1 };

const lower = new Graph(byId("lower"), zoomInto, tellPath), upper = new Graph(byId("upper"), zoomInto, tellPath);
upper.up = true;
const timeline = new Timeline(byId("timeline"), () => { weigh(); draw(); });

function tellPath(box) {
    const path = byId("path");
    if (!box)
        path.textContent = "";
    else if (typeof box.key === "number")
        path.textContent = (box.key ? pathOf(box.key).map(nameOf).join(" → ") : "all") + ": " + tellWeight(box, weights.total[0]);
    else
        path.textContent = frames[box.frame][0] + ": " + tellWeight(box, weights.total[0]);
}

function zoomInto(box) {
    if (state.view === "sandwich")
        state.frame = box.frame;
    else
        state.zoom = box.key;
    draw();
}

function setView(view) {
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

function drawGraphs() {
    const width = byId("lower").clientWidth, whole = weights.total[0];
    byId("middle").textContent = "";
    upper.clear();
    lower.up = state.view === "flame";
    if (state.view !== "sandwich") {
        lower.show(contextBoxes(state.zoom, width), whole);
        return;
    }
    if (state.frame < 0) {
        lower.clear();
        return;
    }
    byId("middle").textContent = `Callers above, callees below: ${frames[state.frame][0]}`;
    upper.show(nodeBoxes(callersOf(state.frame), width), whole);
    lower.show(nodeBoxes(calleesOf(state.frame), width), whole);
}

function draw() {
    const isList = state.view === "contexts" || state.view === "functions";
    for (const view of Object.values(views))
        byId("view-" + view).setAttribute("aria-selected", String(view === state.view));
    byId("graph").hidden = isList;
    byId("list").hidden = !isList;
    hideTip();
    if (state.view === "contexts")
        listContexts(byId("list"), context => { state.zoom = context; setView("icicle"); }, draw);
    else if (state.view === "functions")
        listFunctions(byId("list"), frame => { state.frame = frame; setView("sandwich"); }, draw);
    else
        drawGraphs();
    tellMatch();
    if (!changes)
        timeline.draw();
}

function search(text) {
    byId("search").setCustomValidity("");
    try {
        matcher = text ? new RegExp(text, "i") : null;
    } catch (error) {
        matcher = null;
        byId("search").setCustomValidity("no regular expression");
    }
    draw();
}

function reset() {
    state.zoom = 0;
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

function fill() {
    document.title = data.command ? data.command + " - Fathom" : "Fathom";
    byId("command").textContent = data.command || "";
    const share = weight => formatShare(weight, data.weight);
    byId("summary").textContent = `${data.samples.toLocaleString("en")} samples of ${data.event || "?"}` +
        (data.leftOut ? `; ${formatShare(data.leftOut, data.leftOut + data.weight)} of the weight was left out by the options` : "") +
        (data.lost ? `; ${data.lost.toLocaleString("en")} records were lost` : "");
    byId("certainty").textContent = `Contexts: ${share(data.precise)} precise, ${share(data.inferred)} inferred, ${share(data.ambiguous)} ambiguous, ` +
        `${share(data.unknown)} unknown; ${share(data.expected)} expected on the right path`;
    data.metrics.forEach(([name, unit], number) => byId("metric").append(new Option(`${name} (${unit})`, number)));
    byId("thread").append(new Option("all", -1));
    data.threads.forEach(([pid, tid, name], number) => byId("thread").append(new Option(`${name || "?"} ${tid}` + (pid === tid ? "" : ` of ${pid}`), number)));
}

function listen() {
    for (const view of Object.values(views))
        byId("view-" + view).addEventListener("click", () => setView(view));
    byId("metric").addEventListener("change", e => { filter.metric = Number(e.target.value); weigh(); draw(); });
    byId("thread").addEventListener("change", e => { filter.thread = Number(e.target.value); weigh(); draw(); });
    byId("sure").addEventListener("change", e => { filter.sure = Number(e.target.value); weigh(); draw(); });
    byId("search").addEventListener("input", e => search(e.target.value));
    byId("reset").addEventListener("click", reset);
    byId("theme").addEventListener("click", () => { setTheme(!document.documentElement.classList.contains("dark")); draw(); });
    window.addEventListener("resize", draw);
    document.addEventListener("keydown", event => {
        const typing = /^(INPUT|SELECT)$/.test(event.target.tagName);
        if (event.key === "Escape") {
            if (event.target === byId("search"))
                event.target.blur();
            else
                reset();
        } else if (typing || event.altKey || event.ctrlKey || event.metaKey)
            return;
        else if (event.key === "/") {
            byId("search").focus();
            event.preventDefault();
        } else if (views[event.key])
            setView(views[event.key]);
    });
}

setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
(changes ? fillChanges : fill)();
listen();
weigh();
draw();
