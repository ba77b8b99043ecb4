#!/usr/bin/env python3
"""go.py TRACES FOLDED: compares `go tool pprof -traces` with fathom's folded stacks: samples of both; then of functions, of all below
them and of calls those whose shares differ most: share by pprof, by fathom, in percent; as they are, and then of what both tell:
- without runtime.morestack and wrappers of methods and of `go` statements, which pprof leaves out;
- without runtime.asyncPreempt on top, which the signal that preempts left there just before pprof's own, at the same tick."""
import collections
import re
import sys

UNITS = {"ms": 1, "s": 1000, "mins": 60000}


def traces(path):
    """Stacks, outermost first, with their ms."""
    stack, value = [], 0
    for line in open(path):
        if line.startswith("---"):
            if stack:
                yield stack[::-1], value
            stack, value = [], 0
            continue
        found = re.match(r"\s+(?:([\d.]+)(ms|s|mins)\s+)?(\S.*?)(?: \(inline\))?$", line.rstrip())
        if found and (found[1] or stack):
            value = float(found[1]) * UNITS[found[2]] if found[1] else value
            stack.append(found[3])
    if stack:
        yield stack[::-1], value


def folded(path):
    for line in open(path):
        stack, value = line.rstrip().rsplit(" ", 1)
        yield stack.split(";"), float(value)


def common(stack):
    left_out = r"-fm$|^runtime\.(morestack|gcenable\.func[12])$"
    stack = [name for name in stack if not re.search(left_out, name)]
    return stack[:-1] if stack[-1:] == ["runtime.asyncPreempt"] and stack[1:] else stack or ["?"]


def shares(stacks):
    """Of functions, of all below them, of calls: in percent."""
    own, below, calls, total = collections.Counter(), collections.Counter(), collections.Counter(), 0
    for stack, value in stacks:
        total += value
        own[stack[-1]] += value
        for name in set(stack):
            below[name] += value
        for call in set(zip(stack, stack[1:])):
            calls[" -> ".join(call)] += value
    return total, [{k: 100 * v / total for k, v in c.items()} for c in (own, below, calls)]


def compare(pprof, fathom):
    theirs, mine = shares(pprof), shares(fathom)
    print("  weight: pprof %.0f ms, fathom %.0f ms" % (theirs[0], mine[0] / 1e6))
    for what, a, b in zip(("functions", "with callees", "calls"), theirs[1], mine[1]):
        apart = {k: b.get(k, 0) - a.get(k, 0) for k in a.keys() | b.keys()}
        for name in sorted(apart, key=lambda k: -abs(apart[k]))[:5]:
            print("  %-12s %5.1f %5.1f  %+5.1f  %s" % (what, a.get(name, 0), b.get(name, 0), apart[name], name))


def main():
    pprof, fathom = list(traces(sys.argv[1])), list(folded(sys.argv[2]))
    compare(pprof, fathom)
    print("  of what both tell:")
    compare([(common(s), v) for s, v in pprof], [(common(s), v) for s, v in fathom])


main()
