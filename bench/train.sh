#!/bin/sh
# Prints what exhaustive training and counting (fathom calls) cost programs, beside their peers: "make bench" and "make bench-train" run it.
#
# train.sh FATHOM SOURCE PROGRAMS: PROGRAMS is a directory in which programs built for the benchmarks are kept.
#
# The slow-down is a ratio of CPU times (the program's and all that its helpers use), as elapsed time tells of
# other users of the machine; elapsed time is printed beside it. Each run is paired with a plain one just before,
# and the median ratio counts. Debian's own programs are trained. The peers need programs of their own, built here
# from Debian's source packages and compared with a plain build of these, at a tenth of the work, as uftrace
# writes 32 bytes a call. Perl takes too long to build: no peers for it.
# Needs perf, uftrace, dpkg-dev, tcl and the programs (scripts/setup bench).
set -eu
fathom=$1 source=$2 programs=$3
runs=5 peer_runs=3
. "$source"/bench/rows.sh
. "$source"/bench/sources.sh
cd "$directory"

# Full and small size of a workload.
size_of()
{
    case $1 in
    lua5.4) echo 120 12 ;;
    sqlite3) echo 180000 18000 ;;
    bzip2) echo 20000000 2000000 ;;
    perl) echo 200000 20000 ;;
    esac
}

# run WORKLOAD SIZE PROGRAM [PREFIX...]: the workload by this program, behind the prefix.
run()
{
    workload=$1 size=$2 program=$3
    shift 3
    input=/dev/null
    case $workload in
    lua5.4) set -- "$@" "$program" "$source/tests/workloads/words.lua" "$size" ;;
    perl) set -- "$@" "$program" "$source/tests/workloads/log.pl" "$size" ;;
    bzip2)
        [ -e text-"$size" ] || awk -v size="$size" -f "$source"/bench/text.awk >text-"$size"
        set -- "$@" "$program" -kc text-"$size"
        ;;
    sqlite3)
        input=orders-$size
        { echo ".parameter set @n $size" && cat "$source/tests/workloads/shop.sql"; } >"$input"
        set -- "$@" "$program" :memory:
        ;;
    esac
    "$@" <"$input"
}

# took WAY WORKLOAD SIZE PROGRAM: milliseconds of CPU time and elapsed ones. Its output is left in "said".
took()
{
    way=$1
    shift
    case $way in
    plain) prefix= ;;
    train) prefix="$fathom train --via patch -o map.fmap --" ;;
    calls) prefix="$fathom calls -q -n 1 --" ;;
    exact) prefix="$fathom calls -q -n 1 --counter exact --" ;;
    time) prefix="$fathom calls -q -n 1 --metric time --" ;;
    hooks) prefix="$fathom train --via patch --image none -o map.fmap --" ;;
    uftrace) prefix="uftrace record -P . -d uftrace.data --" ;;
    esac
    rm -rf uftrace.data gmon.out
    start=$(date +%s%N)
    # shellcheck disable=SC2086 # the prefix is a list of words
    run "$@" perf stat -x ' ' -e task-clock -o cpu.txt -- $prefix >out 2>said || {
        say "$* under $way failed:"
        cat said >&2
        exit 1
    }
    end=$(date +%s%N)
    awk -v elapsed=$((end - start)) '/task-clock/ { print $1, elapsed / 1e6 }' cpu.txt
}

# slowdown RUNS WAY WORKLOAD SIZE PROGRAM PLAIN_PROGRAM: ratio of CPU times, of elapsed ones, additional CPU time
# in ms.
slowdown()
{
    repeat=$1 how=$2 work=$3 amount=$4 with=$5 without=$6
    : >pairs
    while [ "$repeat" -gt 0 ]; do
        plain=$(took plain "$work" "$amount" "$without")
        mv out expected
        changed=$(took "$how" "$work" "$amount" "$with")
        head -c "$(wc -c <expected)" out | cmp -s - expected || { # behind it is the profile
            say "$work has another output under $how"
            exit 1
        }
        echo "$plain $changed" | awk '{ print $3 / $1, $4 / $2, $3 - $1 }' >>pairs
        repeat=$((repeat - 1))
    done
    medians pairs
}

for needed in perf lua5.4 sqlite3 bzip2 perl; do
    command -v $needed >/dev/null || {
        say "$needed is missing: scripts/setup bench"
        exit 1
    }
done
row figure measured unit limit peer
row "training: load at its start" "$(cut -d ' ' -f 1 /proc/loadavg)" processes "" "on $(nproc) cores"

: >means
for workload in lua5.4 sqlite3 bzip2 perl; do
    # shellcheck disable=SC2046 # two words
    set -- $(size_of $workload)
    # shellcheck disable=SC2046 # three words
    set -- $(slowdown $runs train $workload "$1" $workload $workload)
    calls=$(sed -n 's/.*train: \([0-9]*\) calls in.*/\1/p' said)
    echo "$1" >>means
    row "training: slow-down of $workload" "$(printf %.2f "$1")" x "" \
        "$(awk -v ratio="$2" -v more="$3" -v calls="$calls" 'BEGIN {
            printf "elapsed %.2f x; %.1f million calls, %.1f ns each", ratio, calls / 1e6, more * 1e6 / calls }')"
done
mean() { awk '{ sum += log($1) } END { printf "%.2f", exp(sum / NR) }' "$1"; }
row "training: slow-down, geometric mean" "$(mean means)" x "<= 3"

for way in calls exact time; do
    : >means
    each=
    for workload in lua5.4 sqlite3 bzip2 perl; do
        # shellcheck disable=SC2046 # two words
        set -- $(size_of $workload)
        # shellcheck disable=SC2046 # three words
        set -- $(slowdown $runs $way $workload "$1" $workload $workload)
        echo "$1" >>means
        each="$each, $workload $(printf '%.2f (elapsed %.2f)' "$1" "$2")"
    done
    limit="<= 3"
    [ $way != time ] || limit=
    row "calls: slow-down, geometric mean, $way" "$(mean means)" x "$limit" "${each#, }"
done

for needed in uftrace gprof dpkg-source tclsh; do
    command -v $needed >/dev/null || {
        say "$needed is missing, the peers are left out: scripts/setup bench"
        exit 0
    }
done
built "$programs" sources plain peers || {
    say "the peers are left out"
    exit 0
}
# peer_row NAME WAY KIND: a row of all three workloads.
peer_row()
{
    : >peer_means
    each=
    for workload in lua5.4 sqlite3 bzip2; do
        # shellcheck disable=SC2046 # two words
        set -- "$1" "$2" "$3" $(size_of $workload)
        # shellcheck disable=SC2046 # three words
        set -- "$1" "$2" "$3" \
            $(slowdown $peer_runs "$2" $workload "$5" "$programs/$3/$workload" "$programs/plain/$workload")
        echo "$4" >>peer_means
        each="$each, $workload $(printf '%.2f (elapsed %.2f)' "$4" "$5")"
        [ "$3" != gprof ] || gprof -b "$programs/$3/$workload" gmon.out >/dev/null
    done
    row "slow-down, three programs: $1" "$(mean peer_means)" x "" "${each#, }"
}
peer_row "fathom train" train plain
peer_row "uftrace record -P ." uftrace sleds
peer_row "gcc -pg, no paths" plain gprof
peer_row "-finstrument-functions" hooks hooks
