#!/bin/sh
# python_cost.sh BUILD [PYTHON [DEPTH...]]: what it costs a sample that Python's functions are read, in ns of the program's CPU time. A tracepoint in a loop is
# recorded, below so many functions; beside it by a copy of the interpreter whose state has another name, so that nothing is known of it.
# Needs root. (Any machine whose timer hides the cost of a record will do: no clock is used.)
set -e
build=$(realpath "$1")
python=$(realpath "$(command -v "${2:-/usr/bin/python3.11}")")
shift "$(($# > 2 ? 2 : $#))"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
sed 's/\x00_PyRuntime\x00/\x00_PyRuntimX\x00/' "$python" >hidden
chmod +x hidden
cmp -s "$python" hidden && { echo "python_cost.sh: $python has its state in a library" >&2; exit 1; }
cat >loop.py <<'EOF'
import os, sys, time
rounds = 300000
def run():
    call = os.getppid
    began = time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
    for i in range(rounds): call()
    print((time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID) - began) / rounds * 1e9)
def below(depth):
    a = b = c = depth
    if depth: below(depth - 1)
    else: run()
below(int(sys.argv[1]))
EOF
# median COMMAND...: of seven runs.
median()
{
    for _ in 1 2 3 4 5 6 7; do "$@"; done | sort -n | sed -n 4p
}
recorded()
{
    "$build"/fathom record -q -e syscalls:sys_enter_getppid -c 1 -o data -- "$@" 2>/dev/null
}
printf '%-10s %10s %10s %10s %10s\n' functions alone unknown known 'more, ns'
for depth in "${@:-0 18 98}"; do
    for depth in $depth; do
        alone=$(median "$python" loop.py "$depth")
        unknown=$(median recorded ./hidden loop.py "$depth")
        known=$(median recorded "$python" loop.py "$depth")
        awk -v d="$depth" -v a="$alone" -v u="$unknown" -v k="$known" \
            'BEGIN { printf "%-10d %10.0f %10.0f %10.0f %10.0f\n", d + 2, a, u, k, k - u }'
    done
done
