#!/bin/sh
# script_cost.sh BUILD [LANGUAGE [INTERPRETER [DEPTH...]]]: what it costs a sample that the functions of a script are read, in ns of the program's CPU time. LANGUAGE: python,
# php, ruby or node. A tracepoint in a loop is recorded, below so many functions; beside it by a copy of the interpreter whose state has another name, so that nothing is known of
# it. Needs root. (Any machine whose timer hides the cost of a record will do: no clock is used.)
set -e
build=$(realpath "$1")
language=${2:-python}
case $language in
python) name=/usr/bin/python3.11 state=_PyRuntime without='' call=getppid ;;
php) name=/usr/bin/php8.2 state=executor_globals without=-n call=getpid ;; # without extensions, which want the state by its name
ruby) name=/usr/bin/ruby3.1 state=ruby_exec_node without=--disable-all call=getppid ;;
node) name=node state=v8dbg_off_fp_function without='' call=getppid program=loop.js ;;
*) echo "script_cost.sh: $language: python, php, ruby or node" >&2; exit 1 ;;
esac
interpreter=$(realpath "$(command -v "${3:-$name}")")
shift "$(($# > 3 ? 3 : $#))"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
# Ruby is in a library.
library=$(ldd "$interpreter" | awk '/libruby/ { print $3 }')
hidden=$here/$(basename "${library:-hidden}")
sed "s/\x00$state\x00/\x00${state%?}X\x00/" "${library:-$interpreter}" >"$hidden"
chmod +x "$hidden"
cmp -s "${library:-$interpreter}" "$hidden" && { echo "script_cost.sh: $interpreter has its state in a library" >&2; exit 1; }
hide() { if [ -n "$library" ]; then recorded env LD_LIBRARY_PATH="$here" "$interpreter" "$@"; else recorded "$hidden" "$@"; fi; }
cat >loop.python <<'EOF'
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
cat >loop.php <<'EOF'
<?php
const ROUNDS = 300000;
function used() {
    $r = getrusage();
    return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec'] + ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1e6;
}
function run() {
    $began = used();
    for ($i = 0; $i < ROUNDS; $i++) getmypid();
    echo (used() - $began) / ROUNDS * 1e9, "\n";
}
function below($depth) {
    $a = $b = $c = $depth;
    if ($depth) below($depth - 1);
    else run();
}
below((int)$argv[1]);
EOF
cat >loop.ruby <<'EOF'
ROUNDS = 300000
def run
  began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  i = 0
  while i < ROUNDS
    Process.ppid
    i += 1
  end
  puts((Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began) / ROUNDS * 1e9)
end
def below(depth)
  if depth > 0 then below(depth - 1) else run end
end
below(ARGV[0].to_i)
EOF
cat >loop.js <<'EOF'
const rounds = 300000;
function used() { const {user, system} = process.cpuUsage(); return (user + system) * 1e3; }
function run() {
  for (const found = Date.now() + 4000; Date.now() < found;) process.ppid; /* node is large */
  const began = used();
  for (let i = 0; i < rounds; i++) process.ppid;
  console.log((used() - began) / rounds);
}
function below(depth) { const a = depth; if (depth) below(depth - 1); else run(); return a; }
below(+process.argv[2]);
EOF
# median COMMAND...: of seven runs.
median()
{
    for _ in 1 2 3 4 5 6 7; do "$@"; done | sort -n | sed -n 4p
}
recorded()
{
    "$build"/fathom record -q -e "syscalls:sys_enter_$call" -c 1 -o data -- "$@" 2>/dev/null
}
printf '%-10s %10s %10s %10s %10s\n' functions alone unknown known 'more, ns'
for depth in "${@:-0 18 98}"; do
    for depth in $depth; do
        # shellcheck disable=SC2086 # one option, or none
        set -- $without "${program:-loop.$language}" "$depth"
        alone=$(median "$interpreter" "$@")
        unknown=$(median hide "$@")
        known=$(median recorded "$interpreter" "$@")
        awk -v d="$depth" -v a="$alone" -v u="$unknown" -v k="$known" \
            'BEGIN { printf "%-10d %10.0f %10.0f %10.0f %10.0f\n", d + 2, a, u, k, k - u }'
    done
done
