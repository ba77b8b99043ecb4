#!/bin/sh
# Prints how much weight has the right path of a script's functions, and how many samples announce a new chain, by programs that say which paths they have.
#
# script.sh FATHOM SOURCE [LANGUAGE [INTERPRETER [SUBJECT...]]]: LANGUAGE is python, php, ruby or node. SUBJECT is a program of tests/workloads/LANGUAGE, or, of Python, "trees" or
# "unparse", of which only the chains are counted; all of them when none is named. Each is recorded for
# SECONDS (in the environment, 13) at HERTZ (997). "right" is of all weight, with the moments before the interpreter is found; "later": without the first second;
# "new" are the chains announced after ten seconds, in percent of the samples then. Needs perf, and BPF.
set -eu
fathom=$1 source=$2 language=${3:-python}
case $language in
python) usual=/usr/bin/python3.11 end=py subjects='web called threads tasks deep kinds remade trees unparse' ;;
php) usual=/usr/bin/php8.2 end=php subjects='kinds called deep' ;;
ruby) usual=/usr/bin/ruby3.1 end=rb subjects='kinds called deep' ;;
node) usual=node end=js subjects='kinds called tasks threads deep' ;;
*) echo "script.sh: $language: python, php, ruby or node" >&2; exit 1 ;;
esac
interpreter=${4:-$usual}
shift $(($# < 4 ? $# : 4))
seconds=${SECONDS_EACH:-13} hertz=${HERTZ:-997}
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $subjects
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
cp "$source"/tests/workloads/python/judge.py "$source/tests/workloads/$language"/*.$end "$directory"
cd "$directory"

right()
{
    grep -q '^path' "$subject.$end" || { echo - && return; }
    "$fathom" report -q -i out.data "$@" --format json >out.json
    python3 judge.py "$subject.$end" out.json 99 100 | sed -n 's/^right \([0-9.]*\) .*/\1%/p'
}

echo "subject     right   later     new"
for subject; do
    most=1000000
    [ "$subject" != deep ] || most='1000000 500'
    # shellcheck disable=SC2086 # two arguments
    "$fathom" record -q -F "$hertz" --duration "$seconds" -o out.data -- "$interpreter" "$subject.$end" $most
    new=$(perf script -D -i out.data 2>/dev/null | awk '
        /PERF_RECORD_SAMPLE/ { time = ($2 ~ /^0x/ ? $1 : $2) / 1e9; start = start ? start : time; samples += time - start >= 10 }
        /BPF output: 0000: / { if (time - start >= 10) told++ }
        /BPF output: 0000: 46 53 43 52 01 01/ { if (time - start >= 10) new++ }
        END { if (samples > told) printf "%.2f%%", 100 * new / (samples - told); else printf "-" }')
    printf '%-9s %7s %7s %7s\n' "$subject" "$(right || true)" "$(right --from 1 || true)" "$new"
done
