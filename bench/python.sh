#!/bin/sh
# Prints how much weight has the right Python path, and how many samples announce a new chain, by programs that say which paths they have.
#
# python.sh FATHOM SOURCE [PYTHON [SUBJECT...]]: SUBJECT is a program of tests/workloads/python, or "trees" or "unparse", of which only the chains are
# counted; all of them when none is named. Each is recorded for
# SECONDS (in the environment, 13) at HERTZ (997). "right" is of all weight, with the moments before CPython is found; "later": without the first second;
# "new" are the chains announced after ten seconds, in percent of the samples then. Needs perf, and BPF.
set -eu
fathom=$1 source=$2 python=${3:-/usr/bin/python3.11}
shift $(($# < 3 ? $# : 3))
seconds=${SECONDS_EACH:-13} hertz=${HERTZ:-997}
[ $# -gt 0 ] || set -- web called threads tasks deep kinds remade trees unparse
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$directory/trees.py" <<'PY'
import json, random
random.seed(1)
def tree(depth):
    return {"k%d" % i: tree(depth - 1) if depth and i % 3 == 0 else [random.random(), "s" * random.randint(1, 20), i]
            for i in range(8)}
while True:
    json.loads(json.dumps(tree(4), indent=1))
PY
cat >"$directory/unparse.py" <<'PY'
import ast, glob, os
while True:
    for name in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py")):
        with open(name, encoding="utf-8") as file:
            ast.unparse(ast.parse(file.read()))
PY
cp "$source"/tests/workloads/python/*.py "$directory"
cd "$directory"

right()
{
    grep -q '^path' "$subject.py" || { echo - && return; }
    "$fathom" report -q -i out.data "$@" --format json >out.json
    "$python" judge.py "$subject.py" out.json 99 100 | sed -n 's/^right \([0-9.]*\) .*/\1%/p'
}

echo "subject     right   later     new"
for subject; do
    most=1000000
    [ "$subject" != deep ] || most='1000000 500'
    # shellcheck disable=SC2086 # two arguments
    "$fathom" record -q -F "$hertz" --duration "$seconds" -o out.data -- "$python" "$subject.py" $most
    new=$(perf script -D -i out.data 2>/dev/null | awk '
        /PERF_RECORD_SAMPLE/ { time = ($2 ~ /^0x/ ? $1 : $2) / 1e9; start = start ? start : time; samples += time - start >= 10 }
        /BPF output: 0000: / { if (time - start >= 10) told++ }
        /BPF output: 0000: 46 53 43 52 01 01/ { if (time - start >= 10) new++ }
        END { if (samples > told) printf "%.2f%%", 100 * new / (samples - told); else printf "-" }')
    printf '%-9s %7s %7s %7s\n' "$subject" "$(right || true)" "$(right --from 1 || true)" "$new"
done
