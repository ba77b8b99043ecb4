// code.js - the source and the instructions of one function, with the weight of the samples at each: of all contexts, or of one.
//
// code.functions: {name, image, first: the place of its first instruction, insns: [address, text, origin, how many are left out before
// it], skipped: ... after the last, unread: bytes of code, hasLines, file, source: [line, text] of that file}. code.origins: [file,
// line, function if inlined, text, file and line of the function itself]; files and functions are numbers in code.texts, or null.
// code.scripts: {frame, file, source}, functions that an interpreter runs. Their lines are in the file's contexts, each behind its function.
const MOST_CONTEXTS = 100;
const shownCode = { event: -1, number: -1, context: 0, missing: "", hot: [], at: -1 };

function scriptFunction(script) {
    const [name, image] = frames[script.frame];
    return { ...script, name, image, insns: [], hasLines: true, isScript: true };
}

// What the event's lists tell, found once: the function (as a context) that each context belongs to, whatever is inlined, entered in
// the kernel or accessed there; the function of each place; that of each frame, by its samples; and the innermost function of a script
// that each context of the file belongs to.
function readCode() {
    if (shownCode.event === filter.event)
        return;
    const owners = new Int32Array(contextCount), functions = data.code ? [...data.code.functions, ...data.code.scripts.map(scriptFunction)] : [], byFrame = new Map();
    for (let i = 1; i < contextCount; i++)
        owners[i] = kindOf(contexts.frame[i]) === Kind.FUNCTION ? i : owners[contexts.parent[i]];
    const ofPlace = [-1];
    functions.forEach((f, number) => { for (let n = 0; n < f.insns.length; n++) ofPlace.push(number); });
    for (let i = 0; data.code && i < entries.place.length; i++) {
        const owner = owners[entries.context[i]];
        if (entries.place[i] && owner)
            byFrame.set(contexts.frame[owner], ofPlace[entries.place[i]]);
    }
    functions.forEach((f, number) => { if (f.isScript) byFrame.set(f.frame, number); });
    const { parent, frame } = data.contexts, ofScript = new Int32Array(parent.length).fill(-1);
    for (let i = 1; i < parent.length; i++)
        ofScript[i] = fileKind(i) === Kind.SCRIPT ? byFrame.get(frame[i]) ?? -1 : ofScript[parent[i]];
    Object.assign(shownCode, { event: filter.event, functions, ofScript, owners, byFrame, ofPlace, number: -1, context: 0, at: -1 });
}

// Chooses the function of a context (one of its contexts), or of a frame (all of them). false: the page has no code of it.
function chooseCode(frame, context) {
    readCode();
    const owner = context && kindOf(frame) !== Kind.SCRIPT ? shownCode.owners[context] : 0, number = shownCode.byFrame.get(owner ? contexts.frame[owner] : frame);
    if (number === undefined)
        return false;
    const has = owner && entries.place.some((place, i) => place && shownCode.owners[entries.context[i]] === owner);
    Object.assign(shownCode, { number, context: has ? owner : 0, at: -1 });
    return true;
}

// By falling weight under the filters: [number of a function or context, weight].
function heaviest(sums) {
    return [...sums].filter(([, weight]) => weight > 0).sort((a, b) => b[1] - a[1]);
}

function addTo(sums, key, weight) {
    sums.set(key, (sums.get(key) || 0) + weight);
}

// The weight of each function; of the chosen one's contexts, instructions, and lines.
function weighCode() {
    const sums = { functions: new Map(), contexts: new Map(), insns: new Map(), lines: new Map(), ownLines: new Map(), origins: new Map(), total: 0, own: 0 };
    const { functions, ofPlace, ofScript, owners } = shownCode, f = functions[shownCode.number];
    if (f && f.isScript)
        weighScript(f, sums);
    for (let i = 0; i < entries.context.length; i++) {
        const place = entries.place[i], script = ofScript[data.entries.context[i]], value = shownValue(i);
        if (script >= 0 && value)
            addTo(sums.functions, script, value);
        if (!place || !value)
            continue;
        addTo(sums.functions, ofPlace[place], value);
        if (ofPlace[place] !== shownCode.number)
            continue;
        const owner = owners[entries.context[i]];
        if (owner)
            addTo(sums.contexts, owner, value);
        if (shownCode.context && owner !== shownCode.context)
            continue;
        sums.total += value;
        addTo(sums.insns, place - f.first, value);
        const number = f.insns[place - f.first][2], origin = data.code.origins[number];
        if (origin)
            addTo(sums.origins, number, value);
        if (origin && origin[4] === f.file)
            addTo(sums.lines, origin[5], value);
    }
    return sums;
}

// The lines of a function that an interpreter runs, as `fathom annotate` tells them: a path counts for a line once, however often a
// recursion has it. Own: no further function of a script is below.
function weighScript(f, sums) {
    const { parent, frame } = data.contexts, byContext = new Map(), has = new Uint8Array(parent.length);
    for (let i = 1; i < parent.length; i++)
        has[i] = has[parent[i]] || frame[i] === f.frame ? 1 : 0;
    data.entries.context.forEach((context, i) => { if (has[context] && shownValue(i)) addTo(byContext, context, shownValue(i)); });
    for (const [context, weight] of byContext) {
        const counted = new Set();
        let line = 0, isOwn = true;
        for (let at = context; at; at = parent[at]) {
            if (fileKind(at) === Kind.LINE) {
                line = Number(/\d+$/.exec(frames[frame[at]][0]));
                continue;
            }
            if (frame[at] === f.frame) {
                counted.add(line);
                if (isOwn)
                    addTo(sums.ownLines, line, weight);
                sums.own += isOwn ? weight : 0;
            }
            isOwn = isOwn && fileKind(at) !== Kind.SCRIPT;
            line = 0;
        }
        for (const each of counted)
            addTo(sums.lines, each, weight);
        sums.total += weight;
    }
}

function textOf(number) {
    return number === null ? "" : data.code.texts[number];
}

// The callers of a context, from its function outwards.
function callersText(context) {
    const names = pathOf(context).map(nameOf).reverse().slice(1), shown = names.slice(0, 6).map(name => shortenName(name, 40));
    return (shown.join(" ← ") || "no caller") + (names.length > 6 ? " ← ..." : "");
}

function fillOptions(select, rows, chosen) {
    select.replaceChildren(...rows.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

function fillChoices(sums) {
    const functions = heaviest(sums.functions), contextRows = heaviest(sums.contexts), whole = weights.total[0];
    const rows = functions.map(([number, weight]) => [number, `${formatShare(weight, whole)} ${shownCode.functions[number].name} (${shownCode.functions[number].image})`]);
    shownCode.functions.forEach((f, number) => {
        if (!sums.functions.has(number) && (f.isScript || number === shownCode.number))
            rows.push([number, `0.0% ${f.name} (${f.image})`]);
    });
    fillOptions(byId("code-function"), rows, shownCode.number);
    byId("code-context-choice").hidden = !!shownCode.functions[shownCode.number].isScript;
    const choices = contextRows.slice(0, MOST_CONTEXTS);
    if (shownCode.context && !choices.some(([context]) => context === shownCode.context))
        choices.push([shownCode.context, sums.contexts.get(shownCode.context) || 0]);
    let all = 0;
    contextRows.forEach(([, weight]) => { all += weight; });
    fillOptions(byId("code-context"), [[0, `all (${contextRows.length.toLocaleString("en")})`],
        ...choices.map(([context, weight]) => [context, `${formatShare(weight, all)} ${callersText(context)}`])], shownCode.context);
}

// A cell whose bar is as long as the share of the heaviest one.
function heatCell(tr, weight, most, total) {
    const td = cell(tr, weight ? formatShare(weight, total) : "", true);
    if (!weight)
        return;
    const length = 100 * weight / most;
    td.style.background = `linear-gradient(to left, var(--heat) ${length.toFixed(1)}%, transparent ${length.toFixed(1)}%)`;
    td.title = formatWeight(weight);
}

function codeTable(titles) {
    return tableOf(titles.map(title => ["", title]), "", () => {});
}

function selectRow(tr) {
    for (const row of document.querySelectorAll("#code tr.chosen"))
        row.classList.remove("chosen");
    if (tr)
        tr.classList.add("chosen");
}

// Scrolls a part of the view alone, not the page.
function scrollPart(part, tr) {
    const top = tr.offsetTop - part.clientHeight / 3;
    part.scrollTop = Math.max(0, top);
}

// Where an instruction comes from: "loop.c:12  inner (inlined)  text"
function originText(origin) {
    return `${textOf(origin[0]).replace(/.*\//, "")}:${origin[1]}` + (origin[2] === null ? "" : `  ${shortenName(textOf(origin[2]), 60)} (inlined)`) +
        (origin[3] === null ? "" : "  " + origin[3].trim());
}

// In place of a source that is not there: the lines with the most weight.
function listHotLines(f, sums) {
    const rows = heaviest(sums.origins), part = byId("source"), table = codeTable(["Share", "Hottest lines"]);
    part.hidden = !rows.length;
    for (const [number, weight] of rows) {
        const tr = document.createElement("tr");
        heatCell(tr, weight, rows[0][1], sums.total);
        cell(tr, originText(data.code.origins[number])).className = "text";
        tr.addEventListener("click", () => { showInsn(f, shownCode.hot.find(([n]) => f.insns[n][2] === number)[0]); tr.classList.add("chosen"); });
        table.append(tr);
    }
    part.replaceChildren(table);
    return new Map();
}

function listSource(f, sums) {
    const source = f.isScript && !f.source.length ? [...sums.lines.keys()].filter(line => line).sort((a, b) => a - b).map(line => [line, ""]) : f.source;
    if (!source.length && !f.isScript)
        return listHotLines(f, sums);
    const shares = f.isScript ? ["Total", "Self"] : ["Share"];
    const part = byId("source"), table = codeTable([...shares, "Line", `Source: ${textOf(f.file)}`]), rows = new Map();
    part.hidden = false;
    const most = Math.max(...sums.lines.values(), 0);
    let last = 0;
    for (const [line, text] of source) {
        const tr = document.createElement("tr");
        if (last && line > last + 1)
            tr.className = "after-gap";
        last = line;
        heatCell(tr, sums.lines.get(line), most, sums.total);
        if (f.isScript)
            heatCell(tr, sums.ownLines.get(line), most, sums.total);
        cell(tr, String(line), true);
        cell(tr, text || "").className = "text";
        tr.addEventListener("click", () => showLine(f, line, sums));
        rows.set(line, tr);
        table.append(tr);
    }
    part.replaceChildren(table);
    return rows;
}

function listInsns(f, sums) {
    const part = byId("insns"), table = codeTable(["Share", "Address", "Instruction"]), rows = [], most = Math.max(...sums.insns.values(), 0);
    part.hidden = !!f.isScript;
    const gap = count => {
        const tr = document.createElement("tr");
        tr.className = "gap";
        cell(tr, "");
        cell(tr, "...", true);
        cell(tr, `${count.toLocaleString("en")} instructions without samples`);
        table.append(tr);
    };
    let last = null;
    f.insns.forEach(([address, text, number, skipped], n) => {
        if (skipped)
            gap(skipped);
        const origin = number === null ? null : data.code.origins[number], key = origin && origin.slice(0, 3).join(" ");
        if (origin && key !== last) {
            const tr = document.createElement("tr");
            tr.className = "origin";
            cell(tr, "");
            cell(tr, "");
            cell(tr, originText(origin)).className = "text";
            table.append(tr);
        }
        last = key;
        const tr = document.createElement("tr");
        heatCell(tr, sums.insns.get(n), most, sums.total);
        cell(tr, address, true);
        cell(tr, text).className = "text";
        tr.addEventListener("click", () => showInsn(f, n));
        rows[n] = tr;
        table.append(tr);
    });
    if (f.skipped)
        gap(f.skipped);
    part.replaceChildren(table);
    if (f.unread)
        textElement(part, "p", `${f.unread.toLocaleString("en")} bytes of code are not here: they are not in the file, or too many`);
    return rows;
}

// Selects an instruction, and the line that it is made of.
function showInsn(f, n) {
    const origin = data.code.origins[f.insns[n][2]], line = origin && origin[4] === f.file ? shownCode.lineRows.get(origin[5]) : null;
    selectRow(shownCode.insnRows[n]);
    scrollPart(byId("insns"), shownCode.insnRows[n]);
    if (!line)
        return;
    line.classList.add("chosen");
    scrollPart(byId("source"), line);
}

// Selects a line, and the instructions that are made of it: the hottest one is shown.
function showLine(f, line, sums) {
    let hottest = -1;
    selectRow(shownCode.lineRows.get(line));
    f.insns.forEach((insn, n) => {
        const origin = data.code.origins[insn[2]];
        if (!origin || origin[4] !== f.file || origin[5] !== line)
            return;
        shownCode.insnRows[n].classList.add("chosen");
        if (hottest < 0 || (sums.insns.get(n) || 0) > (sums.insns.get(hottest) || 0))
            hottest = n;
    });
    if (hottest >= 0)
        scrollPart(byId("insns"), shownCode.insnRows[hottest]);
}

// The next hot instruction, or line of a script, by falling weight, or the one before.
function nextHot(step) {
    const { hot } = shownCode, f = shownCode.functions[shownCode.number];
    if (!hot.length)
        return;
    shownCode.at = (shownCode.at + step + hot.length) % hot.length;
    const [chosen] = hot[shownCode.at];
    if (!f.isScript) {
        showInsn(f, chosen);
        return;
    }
    selectRow(shownCode.lineRows.get(chosen));
    scrollPart(byId("source"), shownCode.lineRows.get(chosen));
}

function tellLeftOut(f, sums) {
    const left = data.code.leftOut, said = [];
    if (!f.hasLines)
        said.push(`No debug information was found for ${f.image}: there are no lines.`);
    else if (f.file !== null && !f.source.length)
        said.push(`The source file ${textOf(f.file)} was not there when the page was made.`);
    if (f.isScript && sums.lines.has(0))
        said.push(`${formatShare(sums.lines.get(0), sums.total)} of it is at a line that is not known.`);
    if (left)
        said.push(`Code of the ${shownCode.functions.length} functions with the most weight is in the page; ${left.toLocaleString("en")} more that have samples are left out (fathom report --annotate COUNT).`);
    byId("code-left").textContent = said.join(" ");
}

function drawCode() {
    readCode();
    const none = !shownCode.functions.length;
    for (const id of ["code-choice", "code-parts", "code-left"])
        byId(id).hidden = none;
    if (none) {
        byId("code-said").textContent = "No code is in the page: no sample is in a function of a file that is here, or --annotate 0 was given.";
        return;
    }
    if (shownCode.number < 0)
        shownCode.number = (heaviest(weighCode().functions)[0] || [0])[0];
    const sums = weighCode(), f = shownCode.functions[shownCode.number];
    fillChoices(sums);
    const missing = shownCode.missing ? `No sample is in the code of ${shownCode.missing} itself, or its code is not in the page. ` : "";
    byId("code-said").textContent = `${missing}${f.name} (${f.image})` + (shownCode.context ? " ← " + callersText(shownCode.context) : " in all contexts") +
        `: ${formatShare(sums.total, weights.total[0])} of all, ${formatWeight(sums.total)}` +
        (f.isScript ? `; without functions of the script that it calls ${formatShare(sums.own, weights.total[0])}` : "") + ". Shares below are of that.";
    shownCode.at = -1;
    shownCode.lineRows = listSource(f, sums);
    shownCode.hot = heaviest(f.isScript ? sums.lines : sums.insns).filter(([at]) => !f.isScript || shownCode.lineRows.has(at));
    shownCode.insnRows = listInsns(f, sums);
    tellLeftOut(f, sums);
    const hottestLine = heaviest(sums.lines)[0];
    if (shownCode.hot.length && !f.isScript)
        scrollPart(byId("insns"), shownCode.insnRows[shownCode.hot[0][0]]);
    if (hottestLine && shownCode.lineRows.has(hottestLine[0]))
        scrollPart(byId("source"), shownCode.lineRows.get(hottestLine[0]));
}
