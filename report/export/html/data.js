// data.js - the recording: contexts, what their samples add up to under the filters, and how numbers are told.
//
// events: what follows, of each event of the recording.
// lines: whether lines are wanted in paths.
// phases: the phase of each slice of time, from 1 on; empty where samples were not kept.
// contexts: lists by number; 0 is the root, parents come before children, siblings from heavy to light. entries: samples of one
// context (of all its samples, if `bounded`), instruction (place: from 1 on in the lists of `code`), thread, slice of time and certainty, added up. frames: [name, image, kind], threads: [pid, tid, name].
// With states (states.js): of each entry its state, and the span of slices that it is in, as much of it in each.
const recording = JSON.parse(document.getElementById("data").textContent), events = recording.events || [recording];
const Kind = { FUNCTION: 0, INLINED: 1, UNKNOWN: 2, DATA: 3, FOUND: 4, UNSURE: 5, KERNEL: 6, LINE: 7, PARTIAL: 8, LABEL: 9, LEVEL: 10, SCRIPT: 11, WAKER: 12 };
let data, contexts, entries, frames, contextCount;

// language: "all"; "native": without functions of scripts; "script": without machine code, where there are such.
const filter = { event: 0, metric: 0, threads: null, sure: 0, user: false, language: "all", folded: false, from: 0, to: events[0].slices };

// self: weight that ends in a context; total: with all below; doubt: of `total`, what is expected not to be there.
let weights;

function useEvent(number) {
    filter.event = number;
    data = events[number];
    frames = data.frames;
    arrange();
}

// shownAs: the context that each of the file's is shown as.
let shownAs;

// The contexts as they are in the file, or without what the filters hide.
function arrange() {
    const merge = filter.folded || filter.language !== "all" || (data.lines === false && data.contexts.frame.some((_, i) => isScriptLine(i)));
    ({ contexts, entries, shownAs } = merge ? mergeContexts() : { ...data, shownAs: data.contexts.frame.map((_, i) => i) });
    contextCount = contexts.parent.length;
    weights = { self: new Float64Array(contextCount), total: new Float64Array(contextCount), doubt: new Float64Array(contextCount), selfDoubt: new Float64Array(contextCount) };
}
useEvent(0);

// The kind of a context of the file; -1: the root.
function fileKind(i) {
    return i ? kindOf(data.contexts.frame[i]) : -1;
}

// A line of a function that an interpreter runs: for its code alone, unless lines are wanted in paths.
function isScriptLine(i) {
    return fileKind(i) === Kind.LINE && fileKind(data.contexts.parent[i]) === Kind.SCRIPT;
}

function isScript(i) {
    return fileKind(i) === Kind.SCRIPT || isScriptLine(i) || (fileKind(i) === Kind.LABEL && frames[data.contexts.frame[i]][0].startsWith("[script function"));
}

// Machine code of a process: not levels and threads above it, nor the kernel and data below.
function isNative(i) {
    const kind = fileKind(i), above = fileKind(data.contexts.parent[i]);
    return kind === Kind.LABEL ? ![-1, Kind.LABEL, Kind.LEVEL].includes(above) : ![Kind.LEVEL, Kind.KERNEL, Kind.DATA, Kind.FOUND].includes(kind);
}

function isHidden(i) {
    if (data.lines === false && isScriptLine(i))
        return true;
    return filter.language === "native" ? isScript(i) : filter.language === "script" && !isScript(i) && isNative(i);
}

// Marks the file's contexts with samples whose path has no function of a script: where machine code is hidden, they are shown as they
// are, as by report --script.
function findBare() {
    const { contexts: { parent }, entries } = data, count = parent.length, scripted = new Uint8Array(count), bare = new Uint8Array(count);
    for (let i = 1; i < count; i++)
        scripted[i] = scripted[parent[i]] || isScript(i) ? 1 : 0;
    for (const context of filter.language === "script" ? entries.context : [])
        bare[context] = scripted[context] ? 0 : 1;
    return bare;
}

// The file's contexts without those that are hidden; with `folded`, one whose function is that of its caller becomes one with it. So
// does what both call.
function mergeContexts() {
    const { contexts: { parent, frame }, entries } = data, count = parent.length, place = new Uint32Array(count), barePlace = new Uint32Array(count), nodes = [{ frame: frame[0], parent: 0, weight: 0, children: new Map() }];
    const below = (above, i) => {
        if (above && filter.folded && nodes[above].frame === frame[i])
            return above;
        const siblings = nodes[above].children;
        if (!siblings.has(frame[i])) {
            siblings.set(frame[i], nodes.length);
            nodes.push({ frame: frame[i], parent: above, weight: 0, children: new Map() });
        }
        return siblings.get(frame[i]);
    };
    const bare = findBare(), leads = bare.slice();
    for (let i = count - 1; i > 0; i--)
        leads[parent[i]] |= leads[i];
    for (let i = 1; i < count; i++) {
        place[i] = isHidden(i) ? place[parent[i]] : below(place[parent[i]], i);
        barePlace[i] = leads[i] ? below(barePlace[parent[i]], i) : 0;
    }
    bare.forEach((is, i) => { place[i] = is ? barePlace[i] : place[i]; });
    entries.context.forEach((context, i) => { nodes[place[context]].weight += entries.values[0][i]; });
    for (let i = nodes.length - 1; i > 0; i--)
        nodes[nodes[i].parent].weight += nodes[i].weight;
    // Callers first, and what is below each of them before the next.
    const number = new Uint32Array(nodes.length), merged = { parent: [], frame: [] }, open = [0];
    while (open.length) {
        const at = open.pop();
        number[at] = merged.parent.length;
        merged.parent.push(number[nodes[at].parent]);
        merged.frame.push(nodes[at].frame);
        open.push(...[...nodes[at].children.values()].sort((a, b) => nodes[a].weight - nodes[b].weight));
    }
    const shownAs = Array.from(place, at => number[at]);
    return { contexts: merged, entries: { ...entries, context: entries.context.map(context => shownAs[context]) }, shownAs };
}

// Of an entry, what the filters leave: of one in several slices, the part that lies in the selected time.
function shownValue(i) {
    const span = entries.span ? entries.span[i] : 1, slices = Math.min(entries.slice[i] + span, filter.to) - Math.max(entries.slice[i], filter.from);
    return slices > 0 && passesAnyTime(i) ? entries.values[filter.metric][i] * slices / span : 0;
}

// filter.threads: those that count; null: all.
function passesAnyTime(i) {
    return (filter.threads === null || filter.threads.has(entries.thread[i])) && entries.sure[i] >= filter.sure * data.sureSteps &&
        !(filter.user && fileKind(data.entries.context[i]) === Kind.KERNEL);
}

function weigh() {
    const { self, total, doubt } = weights;
    self.fill(0);
    doubt.fill(0);
    for (let i = 0; i < entries.context.length; i++) {
        const value = shownValue(i);
        self[entries.context[i]] += value;
        doubt[entries.context[i]] += value * (1 - entries.sure[i] / data.sureSteps);
    }
    weights.selfDoubt.set(doubt);
    total.set(self);
    for (let i = contextCount - 1; i > 0; i--) {
        total[contexts.parent[i]] += total[i];
        doubt[contexts.parent[i]] += doubt[i];
    }
}

function nameOf(context) {
    return context ? frames[contexts.frame[context]][0] : "all";
}

// A long name without arguments and template arguments, then without the names around: "std::vector<int>::push_back(int)" is
// "std::vector::push_back", "vector::push_back", "push_back".
function shortenName(name, room) {
    if (name.length <= room)
        return name;
    // Brackets that are names, as others for as long.
    const hidden = "()<>", kept = name.replaceAll("(anonymous namespace)", "{anonymous}").replace(/\boperator(\(\)|<<=?|>>=?|<=>|[<>]=?|->\*?)/g,
        operator => operator.replace(/[()<>]/g, c => String.fromCharCode(1 + hidden.indexOf(c))));
    let short = "", depth = 0;
    for (const c of kept) {
        if (c === "<" || c === "(")
            depth++;
        if (!depth)
            short += c;
        if (depth && (c === ">" || c === ")"))
            depth--;
    }
    const parts = short.replace(/ const$/, "").trim().replace(/[\u0001-\u0004]/g, c => hidden[c.charCodeAt(0) - 1]).split("::");
    if (depth || !parts[parts.length - 1])
        return name;
    while (parts.length > 1 && parts.join("::").length > room)
        parts.shift();
    return parts.join("::");
}

function kindOf(frame) {
    return frame < 0 ? Kind.FUNCTION : frames[frame][2];
}

const explanations = {
    [Kind.UNKNOWN]: "No known path leads to the function at this stack height.",
    [Kind.INLINED]: "Inlined into its caller.",
    [Kind.DATA]: "The memory that was accessed.",
    [Kind.FOUND]: "Where the processor found it.",
    [Kind.UNSURE]: "Several paths were possible: the callers from here on are not sure.",
    [Kind.KERNEL]: "In the kernel.",
    [Kind.LINE]: "A line of its caller.",
    [Kind.PARTIAL]: "The callers further out could not be read.",
    [Kind.LABEL]: "Not a function: a thread, or code without a name.",
    [Kind.SCRIPT]: "Run by an interpreter.",
    [Kind.LEVEL]: "Not a function: who ran what is below it.",
};

function formatShare(part, whole) {
    const percent = whole > 0 ? 100 * part / whole : 0;
    return part > 0 && percent < 0.05 ? "<0.1%" : percent.toFixed(1) + "%";
}

// Times as 3.49 s, other numbers as 34.9 M.
function formatWeight(weight) {
    const unit = data.metrics[filter.metric][1];
    const steps = unit === "ns" ? [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]] : [[1e9, " G"], [1e6, " M"], [1e4, " k", 1e3], [0, ""]];
    const [least, suffix, divide] = steps.find(step => weight >= step[0]) || steps[steps.length - 1];
    const scaled = weight / (divide || least || 1), shown = (suffix && scaled < 999.5 ? scaled.toPrecision(3) : Math.round(scaled).toLocaleString("en")) + suffix;
    return unit === "ns" ? shown : shown + " " + unit;
}

function formatTime(slice) {
    const ns = data.nanoseconds * slice / data.slices;
    return ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : (ns / 1e6).toFixed(1) + " ms";
}

// From the root inwards.
function pathOf(context) {
    const path = [];
    for (let at = context; at; at = contexts.parent[at])
        path.unshift(at);
    return path;
}

// Trees made from the contexts, for graphs of one function: nodes {frame, weight, doubt, children: Map}.
function newNode(frame) {
    return { frame, weight: 0, doubt: 0, children: new Map() };
}

function childOf(node, frame) {
    let child = node.children.get(frame);
    if (!child)
        node.children.set(frame, child = newNode(frame));
    return child;
}

// Outermost occurrences of a frame: each weight counts once, however often it recurs.
function occurrences(frame) {
    const found = [], below = new Uint8Array(contextCount);
    for (let i = 1; i < contextCount; i++) {
        below[i] = below[contexts.parent[i]];
        if (contexts.frame[i] !== frame)
            continue;
        if (!below[i])
            found.push(i);
        below[i] = 1;
    }
    return found;
}

function addWeight(node, weight, doubt) {
    node.weight += weight;
    node.doubt += doubt;
}

function calleesOf(frame) {
    const root = newNode(frame), nodes = new Array(contextCount);
    for (const at of occurrences(frame)) {
        nodes[at] = root;
        addWeight(root, weights.total[at], weights.doubt[at]);
    }
    for (let i = 1; i < contextCount; i++) {
        const above = nodes[contexts.parent[i]];
        if (!above || nodes[i] || !weights.total[i])
            continue;
        nodes[i] = childOf(above, contexts.frame[i]);
        addWeight(nodes[i], weights.total[i], weights.doubt[i]);
    }
    return root;
}

function callersOf(frame) {
    const root = newNode(frame);
    for (const at of occurrences(frame)) {
        if (!weights.total[at])
            continue;
        let node = root;
        addWeight(node, weights.total[at], weights.doubt[at]);
        for (let up = contexts.parent[at]; up; up = contexts.parent[up]) {
            node = childOf(node, contexts.frame[up]);
            addWeight(node, weights.total[at], weights.doubt[at]);
        }
    }
    return root;
}

// From where time is spent outwards.
function invertedTree() {
    const root = newNode(-1);
    for (let i = 1; i < contextCount; i++) {
        if (!weights.self[i])
            continue;
        const doubt = weights.selfDoubt[i];
        addWeight(root, weights.self[i], doubt);
        for (let up = i, node = root; up; up = contexts.parent[up]) {
            node = childOf(node, contexts.frame[up]);
            addWeight(node, weights.self[i], doubt);
        }
    }
    return root;
}

function isLevel(frame) {
    return kindOf(frame) === Kind.LEVEL;
}

// All functions, and levels: {frame, self, total}.
function functionWeights() {
    const self = new Float64Array(frames.length), total = new Float64Array(frames.length);
    const open = new Int32Array(frames.length).fill(-1), chain = [];
    for (let i = 1; i < contextCount; i++) {
        while (chain.length && chain[chain.length - 1] !== contexts.parent[i]) {
            const left = chain.pop();
            if (open[contexts.frame[left]] === left)
                open[contexts.frame[left]] = -1;
        }
        chain.push(i);
        const frame = contexts.frame[i];
        self[frame] += weights.self[i];
        if (open[frame] < 0) {
            open[frame] = i;
            total[frame] += weights.total[i];
        }
    }
    return frames.map((_, frame) => ({ frame, self: self[frame], total: total[frame] })).filter(f => f.total > 0);
}
