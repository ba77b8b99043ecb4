"""judge.py PROGRAM REPORT.json [LEAST [TOLERANCE]]: holds the functions of a script, in Python, PHP, Ruby or JavaScript, of a report's paths against what the program says.

A line "path SHARE CHAIN" of the program's text tells a chain of functions, as regular expressions between ";", that ends where time is
spent: SHARE percent of the weight of all such with a number; "-": any. "path tag NATIVE CHAIN": in a sample in one of these native
functions, and its callees, the chain is this one. Also right are: a chain's beginnings, but for a tag's; all that imports do; and what
runs before and after the program.

judge.py --chains REPORT.json: prints the functions of a script of its paths, and their weight, in a line each.

Prints the weight on right paths in percent; exit status 1 if that is below LEAST (99), or a share is off by more than TOLERANCE (5).
"""
import collections
import json
import re
import sys

CUT = "[script functions not read]"
LOOPS = {"_PyEval_EvalFrameDefault", "execute_ex", "rb_vm_exec", "Builtins_InterpreterEntryTrampoline", "[run-time code]"}
IMPORTS = {"_find_and_load", "_call_with_frames_removed", "require", "<internal:gem_prelude>"}
STARTUP = {"Py_InitializeFromConfig", "Py_FinalizeEx", "PyImport_ImportModule", "PyImport_GetImporter", "ruby_init", "ruby_options", "ruby_cleanup",
           "node::LoadEnvironment", "node::EmitProcessBeforeExit"}


class Truth:
    def __init__(self, text):
        self.shares, self.tags, self.any, self.beginnings = {}, [], [], set()
        for line in re.findall(r"^path (.*)$", text, re.M):
            share, chain = line.split(" ", 1)
            if share == "tag":
                native, chain = chain.split(" ", 1)
                self.tags.append((re.compile(native), chain))
            elif share != "-":
                self.shares[chain] = float(share)
            self.any.append(chain)
            if ".*" in chain:
                continue
            parts = chain.split(";")
            for i in range(1, len(parts) + 1):
                self.beginnings.add(";".join(parts[:i]))
        self.known = {}

    def is_legal(self, chain):
        if chain not in self.known:
            self.known[chain] = any(re.fullmatch(c, chain) for c in self.any) or any(
                balanced(b) and re.fullmatch(b, chain) for b in self.beginnings)
        return self.known[chain]


def balanced(text):
    return text.count("(") == text.count(")")


def paths(report):
    """Each path with weight: its frames, the outermost first."""
    frames, contexts = report["frames"], report["contexts"]
    for i, context in enumerate(contexts):
        weight = sum(context["self"][:1])
        if weight:
            path = []
            while i >= 0:
                path.append(frames[contexts[i]["frame"]])
                i = int(contexts[i]["parent"])
            yield path[::-1], weight


def judge(truth, path):
    """Whether it is right, and the functions of the script in it."""
    chain = [f["name"] for f in path if f["kind"] == "script" or f["name"] == CUT]
    native = [f["name"] for f in path if f["kind"] != "script"]
    text = ";".join(chain)
    if not chain:
        return native[0][0] != "[" and (not LOOPS & set(native) or bool(STARTUP & set(native))), "(none)"
    last = max((i for i, f in enumerate(path) if f["kind"] == "script" or f["name"] == CUT), default=len(path))
    below = [f["name"] for f in path[last + 1:]]
    for name in below:
        for tag, wanted in truth.tags:
            if tag.fullmatch(name):
                return re.fullmatch(wanted, text) is not None, text
    if STARTUP & set(native) or IMPORTS & set(chain):
        return True, text
    return truth.is_legal(text), text


def chains(report):
    """Folded, without native frames."""
    weight = collections.Counter()
    for path, part in paths(report):
        weight[";".join(f["name"] for f in path if f["kind"] == "script") or "(none)"] += part
    for chain, part in weight.items():
        print(chain, part)


def main(program, report, least=99, tolerance=5, only_read=""):
    """only_read: paths of which no function was read are left out."""
    with open(report, encoding="utf-8") as file:
        report = json.load(file)
    if program == "--chains":
        return chains(report)
    with open(program, encoding="utf-8") as file:
        truth = Truth(file.read())
    weight, wrong, found = collections.Counter(), collections.Counter(), collections.Counter()
    for path, part in paths(report):
        right, chain = judge(truth, path)
        if only_read and (chain == "(none)" or chain.endswith(CUT)):
            continue
        weight[right] += part
        if not right:
            wrong[chain + "   " + ";".join(f["name"] for f in path if f["kind"] != "script")] += part
        for expected in truth.shares:
            if re.fullmatch(expected, chain):
                found[expected] += part
                break
    total = weight[True] + weight[False]
    good = 100 * weight[True] / total if total else 0
    failed = good < float(least)
    print(f"right {good:.2f} of {total}")
    for chain, part in wrong.most_common(6):
        print(f"  wrong {100 * part / total:.2f}%: {chain[:1000]}")
    all_found = sum(found.values())
    for chain, share in truth.shares.items():
        is_share = 100 * found[chain] / all_found if all_found else 0
        off = abs(is_share - share) > float(tolerance)
        failed |= off
        print(f"  {'OFF' if off else '   '} {share:5.1f}% {is_share:5.1f}% {chain}")
    sys.exit(failed)


main(*sys.argv[1:])
