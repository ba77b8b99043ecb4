#!/bin/sh
# Prints Fathom's speed and memory figures beside their limits and a peer's: "make bench" runs it.
#
# Every figure is measured here and now: "name<TAB>value<TAB>unit<TAB>limit<TAB>peer" from each bench program, then
# whole commands beside stock perf on the same workload. Needs perf and lua5.4 (scripts/setup bench).
set -eu
fathom=$1 programs=$2 source=$3
. "$source"/bench/rows.sh

# seconds COMMAND...: elapsed time, the least of 3 runs.
seconds()
{
    best=
    for run in 1 2 3; do
        start=$(date +%s%N)
        "$@" >/dev/null 2>&1
        end=$(date +%s%N)
        took=$((end - start))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then
            best=$took
        fi
    done
    awk -v ns="$best" 'BEGIN { printf "%.4f", ns / 1e9 }'
}

# cpu COMMAND...: milliseconds of CPU time of the command without its children, the least of 3 runs.
cpu()
{
    for run in 1 2 3; do
        perf stat -i -x ' ' -e task-clock -o cpu.txt "$@" >/dev/null 2>&1
        awk '/task-clock/ { print $1 }' cpu.txt
    done | sort -n | head -n 1
}

calc() { awk "BEGIN { printf \"$1\", $2 }"; }
bytes() { stat -c %s "$1"; }

row figure measured unit limit peer
for program in $programs; do
    "$program" | while IFS="$(printf '\t')" read -r name value unit limit peer; do
        row "$name" "$value" "$unit" "$limit" "$peer"
    done
done

command -v perf >/dev/null && command -v lua5.4 >/dev/null || {
    say "perf and lua5.4 are needed for the rest, which is left out: scripts/setup bench"
    exit 0
}
cd "$directory"
workload="lua5.4 $source/tests/workloads/words.lua 120"

# A file's size per sample.
$fathom record -q --audit 0 -F 5000 -o ours.data -- $workload >/dev/null
perf record -q -e cpu-clock:u -F 5000 -g -o perf.data $workload >/dev/null 2>&1
perf record -q -e cpu-clock:u -F 5000 --call-graph dwarf -o dwarf.data $workload >/dev/null 2>&1
samples=$(perf script -i ours.data -F ip 2>/dev/null | grep -c .)
chains=$(perf script -i perf.data -F time -G 2>/dev/null | grep -c .)
dumps=$(perf script -i dwarf.data -F time -G 2>/dev/null | grep -c .)
row "file, bytes per sample" "$(calc %.0f "$(bytes ours.data) / $samples")" bytes "" \
    "perf -g $(calc %.0f "$(bytes perf.data) / $chains"), perf --call-graph dwarf $(calc %.0f "$(bytes dwarf.data) / $dumps")"

# The report of that run, by call paths: its CPU time, and what it reads.
$fathom train -q -o map.fmap -- $workload >/dev/null
megabytes() { calc %.1f "$(bytes "$1") / 1e6"; }
row "report of that run" "$(calc %.2f "$(cpu "$fathom" report -q -i ours.data -m map.fmap) / 1e3")" s "" \
    "from $(megabytes ours.data) MB; perf report --stdio of --call-graph dwarf: $(calc %.2f \
        "$(cpu perf report --stdio -i dwarf.data) / 1e3") s from $(megabytes dwarf.data) MB"

# A report of 4 million samples, nearly all on CIDs that training saw; in CPU time.
"$(dirname "$fathom")"/bench/repeat_recording ours.data long.data 4000000
# report_row NAME OPTION...
report_row()
{
    name=$1
    shift
    row "$name" "$(calc %.2f "4e3 / $(cpu "$fathom" report -q -i long.data -m map.fmap "$@")")" M/s ">= 2"
}
report_row "report, samples per second"
report_row "report --no-temporal, samples per second" --no-temporal
report_row "report --phi 0.001, samples per second" --phi 0.001

# What one sample costs the program: a loop of system calls with a sample at each.
# Then the report of those samples, with the peer's call chains of the same loop.
[ "$(id -u)" = 0 ] || {
    say "tracepoints need root: the cost of a sample is left out"
    exit 0
}
calls=1000000
loop="$(dirname "$fathom")/bench/syscall_loop $calls"
event=syscalls:sys_enter_getppid
none=$(seconds $loop)
ours=$(seconds $fathom record -q --audit 0 --ring 32768 -e $event -c 1 -o loop.data -- $loop)
chain=$(seconds perf record -q -m 32M -e $event -c 1 -g -o loop.perf $loop)
row "cost of a sample (tracepoint loop)" "$(calc %.0f "($ours - $none) / $calls * 1e9")" ns "" \
    "perf -g $(calc %.0f "($chain - $none) / $calls * 1e9")"
# The recorder's own part of that, on whatever CPU it runs.
ours=$(cpu $fathom record -q --audit 0 --ring 32768 -e $event -c 1 -o loop.data -- $loop)
chain=$(cpu perf record -q -m 32M -e $event -c 1 -g -o loop.perf $loop)
row "recorder's CPU time per sample" "$(calc %.0f "$ours / $calls * 1e6")" ns "" \
    "perf record -g $(calc %.0f "$chain / $calls * 1e6")"
took=$(seconds $fathom report -q -i loop.data)
perf_took=$(seconds perf report --stdio -i loop.perf)
row "report of that loop" "$(calc %.2f "$calls / $took / 1e6")" M/s ">= 1" \
    "perf report --stdio $(calc %.2f "$calls / $perf_took / 1e6") M/s, ratio $(calc %.1f "$perf_took / $took")"
