// flame.js - a graph of boxes on a canvas: their width is their weight. Boxes narrower than half a pixel are not drawn.
const ROW = 18, LEAST = 0.5;

let matcher = null, matchesFiles = false; // what is searched for: RegExp, or null; in the names of files

function isMatch(frame) {
    return matcher !== null && frame >= 0 && matcher.test(frames[frame][matchesFiles ? 1 : 0]);
}

// A warm colour by name, a green one if an interpreter runs it, or one of all by library, the same in every graph.
const colours = new Map();
let byLibrary = false;
function colourOf(frame) {
    if (colours.has(frame))
        return colours.get(frame);
    let hash = 2166136261;
    for (const c of frame < 0 ? "all" : frames[frame][byLibrary ? 1 : 0])
        hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
    const dark = document.documentElement.classList.contains("dark");
    const kind = kindOf(frame), base = kind === Kind.DATA || kind === Kind.FOUND || isLevel(frame) ? 200 :
        byLibrary ? hash % 360 : kind === Kind.SCRIPT ? 90 + hash % 50 : 12 + hash % 44;
    const colour = `hsl(${base} ${55 + (hash >> 8) % 30}% ${(dark ? 34 : 62) + (hash >> 16) % 12}%)`;
    colours.set(frame, colour);
    return colour;
}

function hatchOf(paint) {
    const small = document.createElement("canvas"), dark = document.documentElement.classList.contains("dark");
    small.width = small.height = 8;
    const p = small.getContext("2d");
    p.fillStyle = dark ? "#3c3c40" : "#e2e2e2";
    p.fillRect(0, 0, 8, 8);
    p.strokeStyle = dark ? "#67676e" : "#a8a8a8";
    p.lineWidth = 2;
    for (const at of [-4, 0, 4, 8]) {
        p.beginPath();
        p.moveTo(at - 2, 10);
        p.lineTo(at + 10, -2);
        p.stroke();
    }
    return paint.createPattern(small, "repeat");
}

// One graph. `boxes(width)` gives what to draw: {x, width, depth, frame, weight, doubt, key}, in any order.
class Graph {
    constructor(canvas, onZoom, onSelect) {
        this.canvas = canvas;
        this.up = false; // callers below
        this.boxes = [];
        this.rows = [];
        this.selected = null;
        canvas.addEventListener("mousemove", e => this.hover(e));
        canvas.addEventListener("mouseleave", () => hideTip());
        canvas.addEventListener("click", e => { const box = this.at(e); if (box) { this.select(box); onZoom(box); } });
        canvas.addEventListener("keydown", e => this.key(e, onZoom));
        this.onSelect = onSelect;
    }

    show(boxes, whole) {
        this.boxes = boxes;
        this.whole = whole;
        this.rows = [];
        for (const box of boxes)
            (this.rows[box.depth] = this.rows[box.depth] || []).push(box);
        this.selected = this.selected && boxes.find(b => b.key === this.selected.key) || null;
        this.draw();
    }

    clear() {
        this.boxes = [];
        this.rows = [];
        this.canvas.style.height = "0";
        this.canvas.height = 0;
    }

    top(depth) {
        return this.up ? (this.rows.length - 1 - depth) * ROW : depth * ROW;
    }

    draw() {
        const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = Math.max(1, this.rows.length) * ROW;
        this.canvas.style.height = height + "px";
        // Browsers draw on no canvas of more than some 16,000 pixels: very deep graphs are drawn coarser.
        const scale = Math.min(ratio, 16000 / height);
        this.canvas.width = Math.round(width * scale);
        this.canvas.height = Math.round(height * scale);
        const paint = this.canvas.getContext("2d");
        paint.scale(scale, scale);
        paint.font = "11px monospace";
        paint.textBaseline = "middle";
        this.hatch = hatchOf(paint);
        for (const box of this.boxes)
            this.drawBox(paint, box);
    }

    drawBox(paint, box) {
        const y = this.top(box.depth), kind = kindOf(box.frame), dark = document.documentElement.classList.contains("dark");
        const sure = box.weight > 0 ? Math.max(0, 1 - box.doubt / box.weight) : 1;
        const width = Math.max(box.width - (box.width > 3 ? 1 : 0), LEAST);
        const least = dark ? 0.6 : 0.35; // what is behind is darker than any colour: less of it can be seen through
        paint.globalAlpha = matcher !== null && !isMatch(box.frame) ? least - 0.1 : kind === Kind.UNKNOWN || kind === Kind.UNSURE ? 1 : least + (1 - least) * sure;
        paint.fillStyle = isMatch(box.frame) ? (dark ? "#8b3fd6" : "#c58cff") :
            changes && box.frame >= 0 && changeOf(box)[3] ? changeColour(changeOf(box)) :
            kind === Kind.UNKNOWN || kind === Kind.UNSURE ? this.hatch : changes ? changeColour([0, 0, 0, 0]) : colourOf(box.frame);
        paint.fillRect(box.x, y, width, ROW - 1);
        paint.globalAlpha = 1;
        if (this.selected === box) {
            paint.strokeStyle = dark ? "#fff" : "#000";
            paint.lineWidth = 2;
            paint.strokeRect(box.x + 1, y + 1, Math.max(width - 2, 1), ROW - 3);
        }
        const room = Math.floor((box.width - 6) / 6.7);
        if (room < 3)
            return;
        const name = box.frame < 0 ? "all" : shortenName(frames[box.frame][0], room);
        paint.fillStyle = dark ? "#f2f2f2" : "#111";
        paint.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, box.x + 3, y + ROW / 2);
    }

    at(event) {
        const bounds = this.canvas.getBoundingClientRect(), x = event.clientX - bounds.left;
        const row = Math.floor((event.clientY - bounds.top) / ROW), depth = this.up ? this.rows.length - 1 - row : row;
        return (this.rows[depth] || []).find(b => x >= b.x && x < b.x + Math.max(b.width, 1)) || null;
    }

    hover(event) {
        const box = this.at(event);
        this.canvas.style.cursor = box ? "pointer" : "default";
        if (box)
            showTip(event.clientX, event.clientY, box, this.whole);
        else
            hideTip();
    }

    select(box) {
        this.selected = box;
        this.draw();
        this.onSelect(box);
        const y = this.canvas.getBoundingClientRect().top + this.top(box.depth);
        if (y < 0 || y + ROW > window.innerHeight)
            window.scrollBy(0, y - window.innerHeight / 2);
    }

    // Selects the next of the boxes that are searched for, by falling weight, or the one before.
    nextMatch(step) {
        const found = this.boxes.filter(box => isMatch(box.frame)).sort((a, b) => b.weight - a.weight), at = found.indexOf(this.selected);
        if (found.length)
            this.select(found[at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length]);
    }

    key(event, onZoom) {
        const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key], deeper = { ArrowDown: this.up ? -1 : 1, ArrowUp: this.up ? 1 : -1 }[event.key];
        if (!this.rows.length || event.altKey || event.ctrlKey || event.metaKey)
            return;
        const at = this.selected || this.rows[0][0];
        let next = null;
        if (event.key === "Enter" && this.selected)
            onZoom(at);
        else if (sideways)
            next = this.rows[at.depth][this.rows[at.depth].indexOf(at) + sideways] || at;
        else if (deeper)
            next = (this.rows[at.depth + deeper] || []).find(b => deeper > 0 ? b.x + b.width > at.x + LEAST / 2 && b.x < at.x + Math.max(at.width, 1)
                : b.x <= at.x + LEAST && b.x + b.width >= at.x) || at;
        else
            return;
        event.preventDefault();
        if (next)
            this.select(this.selected ? next : at);
    }
}

// The contexts below one, and the path to it as whole rows.
function contextBoxes(zoom, width) {
    const boxes = [], { total, doubt } = weights, path = [0, ...pathOf(zoom)], scale = total[zoom] > 0 ? width / total[zoom] : 0;
    path.forEach((context, depth) => boxes.push({ x: 0, width, depth, frame: context ? contexts.frame[context] : -1, weight: total[context], doubt: doubt[context], key: context }));
    const starts = new Map([[zoom, { next: 0, depth: path.length - 1 }]]);
    for (let i = zoom + 1; i < contextCount && scale; i++) {
        const above = starts.get(contexts.parent[i]);
        if (!above) {
            if (contexts.parent[i] < zoom)
                break; // the subtree ends here
            continue;
        }
        const box = { x: above.next, width: total[i] * scale, depth: above.depth + 1, frame: contexts.frame[i], weight: total[i], doubt: doubt[i], key: i };
        above.next += box.width;
        if (box.width < LEAST)
            continue;
        boxes.push(box);
        starts.set(i, { next: box.x, depth: box.depth });
    }
    return boxes;
}

// A tree of nodes (data.js). key: the frames that lead to what is zoomed into, "/3/5".
function nodeBoxes(root, width, zoom = "") {
    const boxes = [];
    let above = "";
    for (const frame of zoom.split("/").slice(1)) {
        boxes.push({ x: 0, width, depth: boxes.length, frame: root.frame, weight: root.weight, doubt: root.doubt, key: above });
        above += "/" + frame;
        root = root.children.get(Number(frame)) || newNode(Number(frame));
    }
    const scale = root.weight > 0 ? width / root.weight : 0, open = [{ node: root, x: 0, depth: boxes.length, key: above }];
    while (open.length) {
        const { node, x, depth, key } = open.pop();
        boxes.push({ x, width: node.weight * scale, depth, frame: node.frame, weight: node.weight, doubt: node.doubt, key });
        let next = x;
        for (const child of [...node.children.values()].sort((a, b) => b.weight - a.weight)) {
            if (child.weight * scale >= LEAST)
                open.push({ node: child, x: next, depth: depth + 1, key: key + "/" + child.frame });
            next += child.weight * scale;
        }
    }
    boxes.sort((a, b) => a.depth - b.depth || a.x - b.x);
    return boxes;
}

function textElement(parent, tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    parent.append(element);
    return element;
}

function tellWeight(box, whole) {
    return changes ? tellChange(changeOf(box)) : `${formatShare(box.weight, whole)}, ${formatWeight(box.weight)}`;
}

function showTip(x, y, box, whole) {
    const kind = kindOf(box.frame), told = [["b", box.frame < 0 ? "all" : frames[box.frame][0]]];
    if (box.frame >= 0 && frames[box.frame][1])
        told.push(["span", " (" + frames[box.frame][1] + ")"]);
    told.push(["div", tellWeight(box, whole)]);
    if (!changes && typeof box.key === "number" && weights.self[box.key])
        told.push(["div", `of that, its own: ${formatShare(weights.self[box.key], whole)}, ${formatWeight(weights.self[box.key])}`]);
    const sure = box.weight > 0 ? 1 - box.doubt / box.weight : 1;
    if (sure < 0.995 && kind !== Kind.UNKNOWN)
        told.push(["div", `${(100 * Math.max(0, sure)).toFixed(0)}% sure: for some samples, several paths were possible or none was known.`]);
    if (explanations[kind])
        told.push(["div", explanations[kind]]);
    fillTip(x, y, told);
}

// Elements: [tag, text].
function fillTip(x, y, elements) {
    const tip = document.getElementById("tip");
    tip.replaceChildren();
    for (const [tag, text] of elements)
        textElement(tip, tag, text);
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(x + 12, window.innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (y + 16 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 8 : y + 16) + "px";
}

function hideTip() {
    document.getElementById("tip").hidden = true;
}
