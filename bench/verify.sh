#!/bin/sh
# What verified stacks cost (docs/benchmarks.md, "Verified stacks"): "make bench-verify" runs it, as root.
#
# verify.sh FATHOM BENCHES SOURCE. ROUNDS in the environment: of the slow-down, default 8. The machine need not be idle:
# rounds are interleaved, and times are CPU time.
set -eu
fathom=$1 benches=$2 source=$3
. "$source"/bench/rows.sh
[ "$(id -u)" = 0 ] || {
    say "stacks are verified for root only: left out"
    exit 0
}
cd "$directory"
rounds=${ROUNDS:-8}
passive="--dumps none --audit 0"

calc() { awk "BEGIN { printf \"$1\", $2 }"; }
bytes() { stat -c %s "$1"; }
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
least() { sort -n "$1" | head -n 1; }

# What a sample of a page fault costs the program beyond a passive one.
# fault_row NAME LIMIT FAULT_STACK'S ARGUMENTS
fault_row()
{
    name=$1 limit=$2
    shift 2
    rm -f none with
    for round in 1 2 3 4 5 6 7; do
        # shellcheck disable=SC2086
        "$fathom" record -q $passive --ring 131072 -e page-faults -c 1 -o none.data -- "$benches"/fault_stack "$@" >>none
        "$fathom" record -q --dumps unlimited --ring 131072 -e page-faults -c 1 -o with.data -- \
            "$benches"/fault_stack "$@" >>with
    done
    faults=$4
    row "$name" "$(calc %.0f "$(median with) - $(median none)")" ns "$limit" \
        "passive: $(median none) ns for the fault and its sample; $(calc %.0f \
            "($(bytes with.data) - $(bytes none.data)) / $faults") bytes"
}
row figure measured unit limit beside
fault_row "a known stack of 20 frames" 700 20 0 known 100000
fault_row "a known stack of 100 frames" "" 100 0 known 100000
fault_row "a new stack of 1 KB" 1300 4 450 endless 20000
fault_row "a new stack of 4 KB" 1900 4 3400 endless 20000

# The start: recorder and command, with all that they do.
for round in 1 2 3 4 5 6 7 8 9 10 11; do
    "$benches"/cpu_of ms "$fathom" record -q -o true.data -- true && cat ms >>start
    # shellcheck disable=SC2086
    "$benches"/cpu_of ms "$fathom" record -q $passive -o true.data -- true && cat ms >>start.passive
done
row "record -- true" "$(median start)" ms "" "passive: $(median start.passive)"

# The workloads, each a function of what comes before its command.
lua() { "$@" lua5.4 "$source"/tests/workloads/words.lua "$size"; }
sqlite() { "$@" sqlite3 -init /dev/null -cmd ".parameter set @n $size" :memory: ".read $source/tests/workloads/shop.sql"; }
python() { "$@" "$interpreter" "$source"/tests/workloads/stock.py "$size"; }
interpreter=$(python3 -c 'import sys; print(sys.executable)')

# The recorder's own CPU time, by its threads.
spent() { cat /proc/"$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { print ns + 0 }'; }
now() { date +%s%N; }
# own_row NAME SIZE RECORD'S OPTIONS: of `fathom record` on a workload.
own_row()
{
    name=$1 size=$2
    shift 2
    "$name" "$fathom" record -q "$@" -F 2000 -o own.data -- >/dev/null 2>&1 &
    sleep 1
    recorder=$(pgrep -P $! -x fathom) || recorder=$!
    first=$(spent "$recorder") began=$(now) last=$first ended=$began
    while memory=$(awk '/VmHWM/ { print $2 / 1024 }' /proc/"$recorder"/status 2>/dev/null) && [ -n "$memory" ]; do
        most=$memory total=$(spent "$recorder")
        [ "$total" -lt "$last" ] || last=$total ended=$(now) # less: a thread has ended
        sleep 0.2
    done
    wait
    row "record -F 2000, $name${*:+, passive}" "$(calc %.2f "100 * ($last - $first) / ($ended - $began + 1)")" "% of a CPU" \
        "$([ $# -gt 0 ] || echo 2)" "first second: $(calc %.0f "$first / 1e6") ms; $(calc %.0f "$most") MB (limit 64)"
}
for subject in "lua 500" "sqlite 700000" "python 300000"; do
    # shellcheck disable=SC2086
    own_row $subject
    # shellcheck disable=SC2086
    own_row $subject $passive
done

# The program's slow-down at 1,000 Hz, and what is written.
alone() { "$subject" "$benches"/cpu_of ms; }
# shellcheck disable=SC2086
passive() { "$subject" "$fathom" record -q $passive -F 1000 -o run.data -- "$benches"/cpu_of ms; }
verified() { "$subject" "$fathom" record -q -F 1000 -o run.data -- "$benches"/cpu_of ms; }
perf_fp() { "$subject" perf record -q -e cpu-clock:u -F 1000 -g -o run.data "$benches"/cpu_of ms; }
perf_dwarf() { "$subject" perf record -q -e cpu-clock:u -F 1000 --call-graph dwarf -o run.data "$benches"/cpu_of ms; }
for workload in "lua 200" "sqlite 250000"; do
    subject=${workload% *} size=${workload#* }
    rm -f cpu.* size.*
    round=0
    while [ "$round" -lt "$rounds" ]; do
        round=$((round + 1))
        for mode in alone passive verified perf_fp perf_dwarf; do
            $mode >/dev/null 2>&1
            cat ms >>"cpu.$mode"
            [ $mode = alone ] || bytes run.data >>"size.$mode"
        done
    done
    for mode in passive verified perf_fp perf_dwarf; do
        paste cpu.$mode cpu.alone | awk '{ print 100 * ($1 / $2 - 1) }' >ratios
        row "-F 1000, $subject, $mode" "$(calc %.1f "100 * ($(least cpu.$mode) / $(least cpu.alone) - 1)")" "% slower" \
            "" "by medians of pairs: $(calc %.1f "$(median ratios)"); $(calc %.2f "$(median size.$mode) / 1e6") MB"
    done
    paste cpu.verified cpu.passive | awk '{ print 100 * ($1 / $2 - 1) }' >ratios
    row "-F 1000, $subject, verified to passive" "$(calc %.1f "100 * ($(least cpu.verified) / $(least cpu.passive) - 1)")" \
        "% slower" 1 "by medians of pairs: $(calc %.1f "$(median ratios)")"
done
