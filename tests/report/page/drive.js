// drive.js - "drive.js MODULES SMALL LARGE SCRIPT WAITS CHANGES PICTURES": uses the pages as a person would, in Chromium; TAP on standard output.
// With PAGE_PICTURES in the environment, pictures of each view, light and dark, wide and narrow, are left in PICTURES.
"use strict";
const [modules, small, large, script, waiting, changed, pictures] = process.argv.slice(2);
const { chromium } = require(require("path").resolve(modules, "playwright-core"));

let count = 0, failed = 0;
function check(good, what, seen) {
    count++;
    failed += good ? 0 : 1;
    console.log(`${good ? "ok" : "not ok"} ${count} - page: ${what}`);
    if (!good)
        console.log(`# ${JSON.stringify(seen)}`);
}

// Of colours: [red, green, blue].
function contrast(...colours) {
    const [a, b] = colours.map(c => c.map(v => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const errors = [];
async function open(browser, file, options = {}, hash = "") {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    page.on("pageerror", e => errors.push(e.message));
    page.on("dialog", d => { errors.push("a dialog: " + d.message()); d.dismiss(); });
    page.on("console", m => { if (m.type() === "error") errors.push(m.text()); });
    page.on("request", r => { if (!/^(file|data):/.test(r.url())) errors.push("a request: " + r.url()); });
    await page.goto("file://" + require("path").resolve(file) + hash);
    return page;
}

const text = (page, id) => page.locator("#" + id).innerText();
// Boxes of a graph: {name, weight, depth, x, width}.
const boxes = (page, graph) => page.evaluate(graph => (graph === "upper" ? upper : lower).boxes.map(b =>
    ({ name: b.frame < 0 ? "all" : frames[b.frame][0], weight: b.weight, depth: b.depth, x: b.x, width: b.width })), graph);

async function click(page, name, graph = "lower") {
    const box = (await boxes(page, graph)).find(b => b.name === name);
    const at = await page.evaluate(([graph, name]) => {
        const g = graph === "upper" ? upper : lower, b = g.boxes.find(b => (b.frame < 0 ? "all" : frames[b.frame][0]) === name);
        return [b.x + b.width / 2, g.top(b.depth) + 9];
    }, [graph, name]);
    await page.locator("#" + graph).click({ position: { x: at[0], y: at[1] } });
    return box;
}

async function useSmall(browser) {
    const page = await open(browser, small);
    let shown = await boxes(page, "lower");
    check(shown.find(b => b.name === "all").weight === 100 && shown.find(b => b.name === "parse").weight === 60, "weights add up", shown);
    check(shown.some(b => b.name === "<script>alert(1)</script>"), "hostile names are text");
    check((await text(page, "command")).includes("</script><script>alert(2)</script>"), "so is a hostile command");
    await click(page, "parse");
    shown = await boxes(page, "lower");
    check(Math.abs(shown.find(b => b.name === "parse").width - shown.find(b => b.name === "all").width) < 1 && shown.find(b => b.name === "lex").weight === 20, "a click zooms in", shown);
    await page.keyboard.press("Escape");
    check((await boxes(page, "lower")).some(b => b.name.startsWith("[unknown")), "Escape zooms out");

    await page.keyboard.press("/");
    await page.keyboard.type("^lex$");
    check(await text(page, "match") === "matched 30.0%", "search tells the match's share", await text(page, "match"));
    await page.keyboard.press("Control+A");
    await page.keyboard.type("(");
    check(await page.locator("#search").evaluate(e => !e.checkValidity()), "a bad expression is told");
    await page.locator("#search").fill("");
    await page.keyboard.press("Escape");

    await page.keyboard.press("s");
    await page.evaluate(() => { state.frame = frames.findIndex(f => f[0] === "lex"); draw(); });
    const callers = await boxes(page, "upper");
    check(callers.find(b => b.name === "parse").weight === 20 && callers.find(b => b.name === "lex").weight === 30, "sandwich: callers of a function", callers);
    await click(page, "parse", "upper");
    check((await boxes(page, "lower")).find(b => b.name === "lex").weight === 20, "... and callees of the one that is clicked");

    await page.keyboard.press("f");
    await page.locator("#metric").selectOption("1");
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 40, "another metric");
    await page.locator("#metric").selectOption("0");
    await page.locator("#thread").selectOption({ label: "reader 1" });
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 40, "one thread");
    await page.locator("#thread").selectOption({ label: "all" });
    await page.locator("#sure").selectOption("0.9");
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 70, "only what is sure");
    await page.locator("#sure").selectOption("0");

    const bounds = await page.locator("#timeline").boundingBox();
    await page.mouse.move(bounds.x + 1, bounds.y + 5);
    await page.mouse.down();
    await page.mouse.move(bounds.x + bounds.width / 2, bounds.y + 5);
    await page.mouse.up();
    shown = await boxes(page, "lower");
    check(shown.find(b => b.name === "all").weight === 40 && !shown.some(b => b.name === "lex"), "a part of the time", shown);
    check(/only these samples count/.test(await text(page, "range")), "... is told");
    await page.keyboard.press("Escape");
    await page.evaluate(() => {
        data.phases = Array.from({ length: data.slices }, (_, i) => i * 2 < data.slices ? 1 : 2);
        timeline.draw();
    });
    const strip = await page.locator("#timeline").boundingBox();
    await page.locator("#timeline").click({ position: { x: strip.width * 0.75, y: strip.height - 4 } });
    const half = await page.evaluate(() => [filter.from * 2, filter.to, data.slices]);
    check(half[0] === half[2] && half[1] === half[2], "a click on a phase selects its time", half);
    await page.keyboard.press("Escape");
    await page.evaluate(() => { data.phases = []; timeline.set(0, 0); });
    await page.locator("#timeline").focus();
    await page.keyboard.press("ArrowRight");
    check((await boxes(page, "lower")).find(b => b.name === "all").weight < 40, "the keyboard selects time, too");
    await page.keyboard.press("Escape");

    await page.keyboard.press("i");
    await page.locator("#lower").focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"])
        await page.keyboard.press(key);
    check((await text(page, "path")).startsWith("main → parse: 60.0%"), "arrows move in the graph", await text(page, "path"));
    await page.keyboard.press("Enter");
    check(await page.evaluate(() => state.zoom) > 0, "Enter zooms in");
    await page.keyboard.press("Escape");
    await page.mouse.move(640, (await page.locator("#lower").boundingBox()).y + 9);
    check(/100.0%/.test(await text(page, "tip")), "a tip tells the weight");

    await page.keyboard.press("u");
    check((await page.locator("#list tr").nth(1).innerText()).includes("parse"), "functions, the hottest first");
    await page.keyboard.press("c");
    check((await page.locator("#list tr").count()) === 5, "contexts");
    await page.locator("#list tr").nth(1).click();
    check(await page.evaluate(() => state.view === "icicle" && nameOf(state.zoom) === "parse"), "a context opens in the graph");
    await page.close();
}

async function useCode(browser) {
    const page = await open(browser, small), rows = part => page.locator(`#${part} tr`).allInnerTexts();
    const hot = async part => (await rows(part)).filter(row => /^[<\d.]+%/.test(row));
    await page.keyboard.press("a");
    check(/^page_parse \(\S+\) in all contexts: 40.0% of all/.test(await text(page, "code-said")), "code: the hottest function's", await text(page, "code-said"));
    check((await hot("insns")).length === 1 && /^100.0%\s+[0-9a-f]+\s+\S/.test((await hot("insns"))[0]), "code: its instructions with the samples", await rows("insns"));
    check((await hot("source")).length === 1 && (await rows("source")).some(row => /return x \* 3;/.test(row)), "code: its source", await rows("source"));
    await page.keyboard.press("n");
    check(/%/.test(await page.locator("#insns tr.chosen").innerText()) && await page.locator("#source tr.chosen").count() === 1, "code: n goes to the hottest instruction and its line");

    await page.locator("#code-function").selectOption({ label: (await page.locator("#code-function option").allInnerTexts()).find(o => /page_lex/.test(o)) });
    check(/page_lex .*30.0% of all/.test(await text(page, "code-said")) && (await rows("source")).some(row => row.includes("</script>")), "code: another function's, with a hostile source", await rows("source"));
    const contexts = await page.locator("#code-context option").allInnerTexts();
    check(contexts.length === 3 && contexts[0] === "all (2)" && /^66.7% parse ← main$/.test(contexts[1]), "code: its contexts", contexts);
    await page.locator("#code-context").selectOption({ index: 1 });
    check(/page_lex .* ← parse ← main: 20.0% of all/.test(await text(page, "code-said")), "code: of one context", await text(page, "code-said"));
    await page.locator("#sure").selectOption("0.9");
    check((await hot("insns")).length === 0, "code: of what is sure", await rows("insns"));
    await page.locator("#sure").selectOption("0");

    await page.keyboard.press("i");
    await click(page, "lex");
    check((await page.locator("#path button").allInnerTexts()).join() === "Callers, callees,Code", "code: what is selected in a graph offers it");
    await page.locator("#path button").nth(1).click();
    check(/page_lex .* ← parse ← main: 20.0% of all/.test(await text(page, "code-said")), "code: a frame of the graph opens it in its context", await text(page, "code-said"));
    await page.keyboard.press("i");
    await page.keyboard.press("Escape");
    await click(page, "main");
    await page.keyboard.press("a");
    check(/^No sample is in the code of main itself/.test(await text(page, "code-said")), "code: a function without samples of its own is told", await text(page, "code-said"));
    await page.keyboard.press("s");
    await page.locator("#sandwich-function").selectOption({ label: (await page.locator("#sandwich-function option").allInnerTexts()).find(o => /lex/.test(o)) });
    check(/^total 30.0%.*its own 30.0%/.test(await text(page, "sandwich-said")), "sandwich: its function can be chosen, and its weight is told", await text(page, "sandwich-said"));
    await page.locator("#sandwich-code").click();
    check(/page_lex .* in all contexts: 30.0%/.test(await text(page, "code-said")), "code: from the sandwich, of all contexts");

    await page.keyboard.press("f");
    await page.locator("#thread").selectOption({ label: "reader 1" });
    await page.locator("#event").selectOption({ label: "page-faults:u" });
    const shown = await boxes(page, "lower");
    check(shown.find(b => b.name === "all").weight === 5 && shown.some(b => b.name === "lex") && /^1 sample of page-faults/.test(await text(page, "summary")), "another event", shown);
    check(await page.locator("#thread").inputValue() === "0" && (await page.locator("#metric option").allInnerTexts()).join() === "page-faults:u,samples (samples)", "... of the same thread, with its own metrics",
        await page.locator("#metric option").allInnerTexts());
    await page.locator("#event").selectOption({ label: "cache-misses:u" });
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 40, "... and back");
    check(/the filters leave 40.0% of all/.test(await text(page, "range")), "what filters leave is told", await text(page, "range"));
    await page.locator("#thread").selectOption("all");
    await page.keyboard.press("/");
    await page.keyboard.type("lex|parse");
    await page.keyboard.press("Enter");
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    check((await text(page, "path")).startsWith("main → parse → lex: 20.0%"), "n goes to the next match", await text(page, "path"));
    await page.locator("#search").fill("file:nothing");
    check(await text(page, "match") === "matched 0.0%", "search in names of files", await text(page, "match"));
    await page.locator("#search").fill("file:prog");
    check(await text(page, "match") === "matched 100.0%", "... by the file that functions are in", await text(page, "match"));
    await page.keyboard.press("Escape");
    await page.locator("#search").fill("");
    await page.locator("#search").evaluate(e => e.blur());
    await page.keyboard.press("u");
    await page.locator("#list tr[tabindex='0']").focus();
    await page.keyboard.press("ArrowDown");
    check(await page.evaluate(() => [...document.querySelectorAll("#list tr")].indexOf(document.activeElement)) === 2, "arrows move in a table");
    const short = await page.evaluate(() => [shortenName("std::vector<int, std::allocator<int> >::push_back(int const&)", 24), shortenName("std::map<int, std::string>::operator[](int const&)", 24),
        shortenName("(anonymous namespace)::walk<a<b> >(int)", 99), shortenName("std::operator<< <char>(std::ostream&)", 20), shortenName("broken<<<", 3)]);
    check(short.join() === "std::vector::push_back,std::map::operator[],(anonymous namespace)::walk<a<b> >(int),std::operator<<,broken<<<", "long names are shortened", short);
    await page.close();
}

// What is shown is in the address, and a page that is opened with it shows the same.
async function useAddress(browser) {
    const page = await open(browser, small);
    await click(page, "parse");
    await page.keyboard.press("f");
    await page.locator("#sure").selectOption("0.9");
    await page.locator("#thread").selectOption({ label: "reader 1" });
    await page.keyboard.press("/");
    await page.keyboard.type("^lex$");
    await page.keyboard.press("Enter");
    check(/matched/.test(await text(page, "match")), "Enter leaves the search, and its marks", await text(page, "match"));
    const address = page.url(), seen = page => page.evaluate(() => [state.view, nameOf(state.zoom), filter.sure, [...filter.threads].join(), String(matcher), weights.total[0]].join());
    const other = await open(browser, small, {}, new URL(address).hash);
    check(/^flame,parse,0.9,0,\/\^lex\$\/i,40$/.test(await seen(page)) && await seen(other) === await seen(page), "the address has view, zoom, filters and search", [address, await seen(other)]);
    check(await other.locator("#sure").inputValue() === "0.9" && await other.locator("#search").inputValue() === "^lex$", "... and so have the controls");
    await other.locator("#search").focus();
    await other.keyboard.press("Escape");
    check(await other.evaluate(() => matcher === null && !location.hash.includes("search")) && await text(other, "match") === "", "Escape in the search ends it", other.url());
    await other.close();
    const hostile = await open(browser, small, {}, "#view=x&zoom=99999&callers=/1e9/-1&function=77777&from=900&to=-3&thread=<b>&sure=9&event=5&metric=&search=(");
    check((await boxes(hostile, "lower")).find(b => b.name === "all").weight === 100, "an address that makes no sense shows all");
    await hostile.close();

    await page.evaluate(() => { location.hash = "#from=0&to=200&view=icicle"; });
    await page.waitForFunction(() => filter.to === 200);
    check(await page.evaluate(() => state.zoom === 0 && filter.sure === 0 && weights.total[0] === 40), "another address is followed");
    await page.close();
}

async function useArrangements(browser) {
    const page = await open(browser, small);
    await page.locator("#inverted").check();
    const shown = await boxes(page, "lower"), name = (depth, name) => shown.find(b => b.depth === depth && b.name === name);
    check(name(1, "parse").weight === 40 && name(1, "lex").weight === 30 && name(2, "parse").weight === 20 && name(2, "parse").x >= name(1, "lex").x, "inverted: callers below where time is spent", shown);
    await click(page, "lex");
    check((await boxes(page, "lower")).filter(b => b.name === "lex")[0].width > 1200 && /callers=%2F\d+$/.test(page.url().replace(/&inverted=true/, "")), "inverted: a click zooms", page.url());
    check((await text(page, "path")).startsWith("lex: 30.0%"), "inverted: what is selected is told", await text(page, "path"));
    await page.keyboard.press("Escape");
    await page.locator("#inverted").uncheck();

    const folded = await page.evaluate(() => {
        const real = data;
        data = { contexts: { parent: [0, 0, 1, 2, 3, 2], frame: [-1, 0, 1, 1, 2, 2] }, entries: { context: [2, 3, 4, 5], values: [[1, 2, 4, 8]] } };
        filter.folded = true;
        const { contexts, entries } = mergeContexts();
        filter.folded = false;
        data = real;
        return [contexts.parent, contexts.frame, entries.context].join(" ");
    });
    check(folded === "0,0,1,2 -1,0,1,2 2,2,3,3", "recursion is one row, and so is what its rows call", folded);
    await page.locator("#folded").check();
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 100, "... without loss of weight");
    await page.locator("#folded").uncheck();

    const colours = () => page.evaluate(() => ["main", "parse"].map(name => colourOf(frames.findIndex(f => f[0] === name))));
    const [main, parse] = await colours();
    await page.locator("#colours").selectOption("library");
    const byLibrary = await colours();
    check(main !== parse && byLibrary[0] === byLibrary[1], "colours by library", [main, parse, byLibrary]);
    await page.locator("#colours").selectOption("function");

    check(await page.locator("#space").isHidden(), "without samples of the kernel, they cannot be left out");
    await page.evaluate(() => { frames.find(f => f[0] === "lex")[2] = Kind.KERNEL; fillEvent(); });
    await page.locator("#space").selectOption("user");
    check((await boxes(page, "lower")).find(b => b.name === "all").weight === 70, "user space only");
    await page.locator("#space").selectOption("all");

    const ticks = await page.evaluate(() => [timeTicks(2.5e9, 5), timeTicks(30e6, 4), timeTicks(7, 4), timeTicks(0, 4)].map(all => all.map(([, label]) => label).join()));
    check(ticks.join(";") === "0.0 s,0.5 s,1.0 s,1.5 s,2.0 s,2.5 s;0 ms,10 ms,20 ms,30 ms;0 ns,2 ns,4 ns,6 ns;" && await page.evaluate(() => timeline.ticks.length) > 1, "the time has an axis", ticks);
    const tracks = await page.evaluate(() => {
        data.threads = [[1, 1, "one"], [2, 2, "two"], [2, 3, "worker"]];
        entries.thread = entries.thread.map((_, i) => i % 3);
        timeline.rows = timeline.pickThreads();
        return [timeline.names.join(), JSON.stringify(timeline.rows)];
    });
    check(/^(process two 2,  (two 2,  worker 3|worker 3,  two 2),one 1)$/.test(tracks[0]) && /\[\d,0\]/.test(tracks[1]), "tracks by process, then thread", tracks);
    await page.close();
}

// Only the page's own script runs, whatever gets into it.
async function usePolicy(browser) {
    const page = await browser.newPage();
    await page.goto("file://" + require("path").resolve(small));
    const ran = await page.evaluate(() => {
        const script = document.createElement("script"), button = document.createElement("button");
        script.textContent = "window.ran = 1";
        document.body.append(script);
        button.setAttribute("onclick", "window.ran = 2");
        document.body.append(button);
        button.click();
        return window.ran || 0;
    });
    check(ran === 0 && !/unsafe-inline/.test(await page.content()), "the policy runs no other script", ran);
    await page.close();
}

// Names can be read on boxes that are no match or not sure, and those be told from what is behind.
async function useContrast(browser) {
    for (const colorScheme of ["light", "dark"]) {
        const page = await open(browser, small, { colorScheme });
        await page.locator("#search").fill("nothing at all");
        const [box, ink, back] = await page.evaluate(() => {
            const b = lower.boxes.find(b => b.frame >= 0 && frames[b.frame][0] === "main"), paint = lower.canvas.getContext("2d"), scale = lower.canvas.width / lower.canvas.clientWidth;
            const y = lower.top(b.depth), over = (top, alpha, under) => top.map((v, i) => v * alpha + under[i] * (1 - alpha));
            const under = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
            const [r, g, blue, alpha] = paint.getImageData((b.x + b.width - 4) * scale, (y + 9) * scale, 1, 1).data;
            const dark = document.documentElement.classList.contains("dark");
            return [over([r, g, blue], alpha / 255, under), dark ? [242, 242, 242] : [17, 17, 17], under];
        });
        check(contrast(box, ink) >= 4.5 && contrast(box, back) >= 1.15, `${colorScheme}: dimmed boxes can be read`, [contrast(box, ink), contrast(box, back)]);
        await page.close();
    }
}

async function useLarge(browser) {
    const page = await open(browser, large);
    const paint = await page.evaluate(() => new Promise(done => {
        const seen = () => performance.getEntriesByName("first-contentful-paint")[0];
        const wait = () => seen() ? done(seen().startTime) : setTimeout(wait, 20);
        wait();
    }));
    const contexts = await page.evaluate(() => contextCount);
    console.log(`# first paint of ${contexts} contexts after ${Math.round(paint)} ms`);
    const drawn = (await boxes(page, "lower")).length;
    check(contexts > 90000 && drawn > 100, "100,000 contexts are drawn as far as they can be seen", [contexts, drawn]);
    await page.locator("#thread").selectOption({ index: 3 });
    await page.keyboard.press("s");
    check((await boxes(page, "upper")).length > 1, "... and filtered, and turned round");
    check(await page.evaluate(() => timeline.names.length) === 1, "the timeline has the threads that the filter leaves");
    await page.close();
}

// Functions of scripts: a filter, and their source with the weight of each line.
async function useScript(browser) {
    const page = await open(browser, script), rows = async () => (await page.locator("#source tr").allInnerTexts()).slice(1).map(row => row.split("\t").map(cell => cell.trim()));
    const paths = async () => (await boxes(page, "lower")).map(b => `${b.depth} ${b.name} ${b.weight}`).sort();
    check((await paths()).join() === "0 all 100,1 main 100,2 loop 95,3 work 95,4 leaf 30,4 sort 40,4 work 15,5 leaf 15,5 loop 40,6 leaf 40", "script: lines are not in paths", await paths());
    await page.locator("#language").selectOption("script");
    check((await paths()).join() === "0 all 100,1 main 5,1 work 95,2 leaf 70,2 work 15,3 leaf 15", "script: without machine code where there are functions of scripts", await paths());
    await page.locator("#folded").check();
    check((await paths()).join() === "0 all 100,1 main 5,1 work 95,2 leaf 85", "script: ... and recursion as one row", await paths());
    await page.locator("#folded").uncheck();
    await click(page, "work");
    await page.locator("#language").selectOption("native");
    check((await paths()).join() === "0 all 100,1 main 100,2 loop 95,3 sort 40,4 loop 40", "script: machine code alone, zoomed into what is left of the path", await paths());
    check(/language=native/.test(page.url()), "script: the address has it", page.url());
    await page.locator("#language").selectOption("all");
    await page.keyboard.press("Escape");
    const colours = await page.evaluate(() => ["leaf", "sort"].map(name => Number(/\d+/.exec(colourOf(frames.findIndex(f => f[0] === name)))[0])));
    check(colours[0] >= 90 && colours[0] < 140 && colours[1] < 60, "script: colours", colours);

    await click(page, "work");
    await page.locator("#path button", { hasText: "Code" }).click();
    check(/^work \(page.py\) in all contexts: 95.0% of all, .*; without functions of the script that it calls 10.0%/.test(await text(page, "code-said")), "script: code of a function", await text(page, "code-said"));
    let seen = await rows();
    check(seen.length === 6 && seen[2].join() === "57.9%,10.5%,3,leaf(i)" && seen[3].join() === "42.1%,,4,sorted(n, key=leaf)", "script: lines with all and own weight, once for a recursion", seen);
    check(await page.locator("#insns").isHidden() && await page.locator("#code-context").isHidden(), "script: no instructions");
    await page.keyboard.press("n");
    check(/leaf\(i\)/.test(await page.locator("#source tr.chosen").innerText()), "script: n selects the hottest line");
    await page.locator("#thread").selectOption({ index: 1 });
    seen = await rows();
    check(seen[2][0] === "100.0%" && seen[3][0] === "", "script: ... of one thread", seen);
    await page.locator("#thread").selectOption({ index: 0 });
    await page.locator("#code-function").selectOption({ index: 0 });
    seen = await rows();
    check(/^leaf .*85.0% of all/.test(await text(page, "code-said")) && seen.some(row => row.join() === "100.0%,100.0%,7,return n * 3 # </script><script>alert(4)</script>"), "script: the heaviest function is first", seen);
    await page.locator("#language").selectOption("script");
    check((await rows()).length === seen.length && /^leaf/.test(await text(page, "code-said")), "script: the same code with machine code left out");
    await page.close();
    const other = await open(browser, small);
    check(await other.locator("#language").isHidden(), "script: no filter where there are no such functions");
    await other.close();
}

// What each thread does: 4 s in slices of 10 ms.
async function useWaits(browser) {
    for (const colorScheme of ["light", "dark"]) {
        const page = await open(browser, waiting, { colorScheme });
        const near = (value, wanted) => Math.abs(value - wanted) < 10;
        // [state, part of the row] in the slices of a thread
        const seen = (tid, slices) => page.evaluate(([tid, slices]) => {
            const row = timeline.rows[data.threads.findIndex(t => t[1] === tid)][0], scale = timeline.canvas.width / timeline.canvas.clientWidth;
            const paint = timeline.canvas.getContext("2d"), x = s => (s + 0.5) / data.slices * timeline.canvas.width, y = (row + 1) * timeline.height - 3;
            const hex = s => "#" + [...paint.getImageData(x(s), y * scale, 1, 1).data].slice(0, 3).map(c => c.toString(16).padStart(2, "0")).join("");
            return slices.map(s => stateColours.indexOf(hex(s)));
        }, [tid, slices]);
        check((await seen(1, [100, 140, 160, 190, 210, 290, 310, 390])).join() === "2,2,1,1,0,0,3,3", `${colorScheme}: a thread waits for a lock, for a CPU, runs and sleeps`, await seen(1, [100, 140, 160, 190, 210, 290, 310, 390]));
        check((await seen(2, [49, 51, 58, 62, 98, 101])).join() === "-1,4,4,4,4,-1", `${colorScheme}: a wait that stands for others does not begin before the last one`, await seen(2, [49, 51, 58, 62, 98, 101]));
        const states = async () => (await page.locator("#states span").allInnerTexts()).join();
        check(await states() === "running 20.4%, 1.00 s,[run queue] 10.2%, 500 ms,[lock] 30.6%, 1.50 s,[sleep] 20.4%, 1.00 s,[poll] 18.4%, 900 ms", `${colorScheme}: how much of each state`, await states());
        const contrasts = await page.evaluate(() => {
            const under = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
            return data.states.map((_, state) => [stateColours[state].match(/\w\w/g).map(v => parseInt(v, 16)), under]);
        });
        check(contrasts.length === 9 && contrasts.every(pair => contrast(...pair) >= 3), `${colorScheme}: each state has a colour that can be seen`, contrasts);

        await page.evaluate(() => { timeline.set(120, 160); });
        const weight = async name => ((await boxes(page, "lower")).find(b => b.name === name) || { weight: 0 }).weight;
        check(near(await weight("[lock]"), 0.3e9) && near(await weight("[run queue]"), 0.1e9) && near(await weight("all"), 0.4e9), `${colorScheme}: of a wait counts what lies in the selected time`, await boxes(page, "lower"));
        check(await states() === "[run queue] 25.0%, 100 ms,[lock] 75.0%, 300 ms", `${colorScheme}: ... which the states tell`, await states());
        await page.keyboard.press("u");
        check(/^75.0%.*75.0%.*\[lock\]/s.test((await page.locator("#list tr").allInnerTexts()).find(row => row.includes("[lock]"))), `${colorScheme}: ... and tables`, await page.locator("#list tr").allInnerTexts());
        await page.keyboard.press("i");
        await page.keyboard.press("Escape");
        await page.locator("#timeline").focus();
        await page.keyboard.press("ArrowRight");
        check(near(await weight("[lock]"), 0.4e9) && near(await weight("all"), 0.4e9), `${colorScheme}: the keyboard selects waits, too`, await boxes(page, "lower"));
        await page.keyboard.press("Escape");
        const bounds = await page.locator("#timeline").boundingBox(), row = await page.evaluate(() => timeline.rows[data.threads.findIndex(t => t[1] === 1)][0]);
        await page.mouse.move(bounds.x + bounds.width * 0.3, bounds.y + row * 22 + 12);
        check(/10.0 ms \[lock\] in 10.0 ms/.test(await text(page, "tip")), `${colorScheme}: a tip tells a slice's`, await text(page, "tip"));
        await page.locator("#metric").selectOption("1");
        check(await weight("[lock]") === 1 && await weight("all") === 6, `${colorScheme}: a wait is one sample`, await boxes(page, "lower"));
        await page.close();
    }
    const other = await open(browser, small);
    check(await text(other, "states") === "", "no states where samples tell none");
    await other.close();
}

async function useChanges(browser) {
    const page = await open(browser, changed);
    const colour = name => page.evaluate(name => changeColour(changeOf(lower.boxes.find(b => b.frame >= 0 && frames[b.frame][0] === name))), name);
    check((await colour("parse")).startsWith("hsl(4 ") && (await colour("<script>alert(1)</script>")).startsWith("hsl(214 ") && (await colour("emit")).startsWith("#"),
        "changes: more is red, less is blue, the rest grey", [await colour("parse"), await colour("emit")]);
    const byName = async name => (await boxes(page, "lower")).find(b => b.name === name);
    check(await byName("lex") && await byName("<script>alert(1)</script>"), "changes: what is new and what is gone can be seen");
    await page.locator("#metric").selectOption({ label: "B" });
    check((await byName("parse")).weight === 1200 && !await byName("<script>alert(1)</script>"), "changes: boxes as wide as in B");
    await page.locator("#lower").focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"])
        await page.keyboard.press(key);
    check(/main → parse: A 40.0%, B 60.0%: \+20.0% ±/.test(await text(page, "path")), "changes: the change is told", await text(page, "path"));
    check(/^The weights differ by no more than chance: .*9 of 12 contexts and functions changed/.test(await text(page, "certainty")), "changes: the whole weight is told", await text(page, "certainty"));
    const unclear = await page.evaluate(() => [tellChange([0.2, 0.5, 1, 0, 1]), (changes.whole = [2, 1, 5, 0, 1], tellWhole())]);
    check(/these recordings cannot tell \(\+30.0% \?\)$/.test(unclear[0]) && /^B has 0.50 times the weight of A: .* \? \(how much/.test(unclear[1]), "changes: what is unclear is told", unclear);
    check(await page.locator("#timeline").isHidden() && await page.locator("#thread").isHidden(), "changes: no filters of samples");
    await page.setViewportSize({ width: 400, height: 900 });
    check(await page.locator("#thread").isHidden(), "changes: ... nor in a narrow window");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press("c");
    check((await page.locator("#list tr").count()) === 5 && /^30.0%\s+0.0%\s+−30.0%/.test(await page.locator("#list tr").nth(1).innerText()), "changes: contexts, the farthest first",
        await page.locator("#list").innerText());
    await page.keyboard.press("u");
    const functions = await page.locator("#list tr").allInnerTexts(), greys = await page.locator("#list tr:has(td.chance)").allInnerTexts();
    check(/ 3 of |^3 of these/.test(await text(page, "list")) && greys.length === functions.length - 4 && greys.some(row => /emit/.test(row)), "changes: functions within chance are last, and told", functions);
    await page.locator("#search").fill("lex");
    check((await page.locator("#list tr").count()) === 2, "changes: search");
    await page.locator("#search").fill("");
    await page.locator("#search").evaluate(e => e.blur());
    await page.keyboard.press("a");
    check(await page.locator("#code").isHidden() && await page.locator("#view-code").isHidden(), "changes: no code");
    await page.keyboard.press("s");
    await page.keyboard.press("f");
    await page.close();
}

async function lookAt(browser, name, file) {
    for (const width of [1280, 400])
        for (const colorScheme of ["light", "dark"]) {
            const page = await open(browser, file, { viewport: { width, height: 900 }, colorScheme });
            for (const view of ["i", "f", "s", "c", "u", "a"]) {
                await page.keyboard.press(view);
                if (process.env.PAGE_PICTURES)
                    await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}-${view}.png` });
                const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
                if (over > 0)
                    errors.push(`${name}: view ${view} is ${over} pixels wider than a window of ${width}`);
            }
            await page.close();
        }
}

(async () => {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
    await useSmall(browser);
    await useCode(browser);
    await useAddress(browser);
    await useArrangements(browser);
    await usePolicy(browser);
    await useContrast(browser);
    await useLarge(browser);
    await useScript(browser);
    await useWaits(browser);
    await useChanges(browser);
    await lookAt(browser, "page", small);
    await lookAt(browser, "script", script);
    await lookAt(browser, "waits", waiting);
    await lookAt(browser, "changes", changed);
    check(errors.length === 0, "no errors, requests, dialogs, or rows that are too wide", errors);
    await browser.close();
    console.log(`1..${count}`);
})().catch(error => {
    console.log(`Bail out! ${error.message.split("\n")[0]}`);
    process.exit(1);
});
