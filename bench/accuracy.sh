#!/bin/sh
# Prints how much weight inference puts on the right path: "make bench-accuracy" runs it.
#
# accuracy.sh FATHOM SOURCE PROGRAMS [SUBJECT...]: PROGRAMS is a directory in which programs built for the
# benchmarks are kept; SUBJECT is one of those below, all of them when none is named.
#
# Each figure is the median of some recordings (RUNS in the environment, default 3) with its spread, held against
# the samples' own unwound stacks by `fathom evaluate`. Stages and maps are compared on the same recordings.
# Programs are built from Debian's source packages by gcc -O2 and nothing else; perl takes too long to build, so
# Debian's own is measured. Needs dpkg-dev, tcl and perl (scripts/setup bench).
set -eu
fathom=$1 source=$2 programs=$3
shift 3
runs=${RUNS:-3}
. "$source"/bench/rows.sh
. "$source"/bench/sources.sh
. "$source"/bench/inputs.sh
cd "$directory"

# figures FILE: percent of the weight on the right path; right frames; precise, ambiguous, incorrect, missing; weight
# without a truth; what the answers said of themselves; calibration error; audit samples used.
figures()
{
    echo "$(weight all "$1") $(weight right "$1") $(number right_frames "$1") $(weight precise "$1")" \
        "$(weight ambiguous "$1") $(weight incorrect "$1") $(weight missing "$1")" \
        "$(number said "$1") $(number no_truth_weight "$1") $(number calibration_error "$1")" \
        "$(number audit_samples "$1")" |
        awk '{
            for (i = 2; i < 9; i++)
                printf "%.2f ", 100 * $i / ($1 > 0 ? $1 : 1)
            print 100 * $9 / ($1 + $9 > 0 ? $1 + $9 : 1), $10, $11
        }'
}

# show SUBJECT WAY LIMIT RECORDINGS OPTION...: a row: the recordings evaluated with these options.
show()
{
    subject=$1 way=$2 limit=$3 recordings=$4
    shift 4
    : >all
    for file in $recordings; do
        "$fathom" evaluate -q --format json -i "$file" "$@" >json
        figures json >>all
        samples=$(number samples json)
    done
    spread=$(sort -n all | awk 'NR == 1 { low = $1 } END { printf "%s to %s", low, $1 }')
    # shellcheck disable=SC2046 # numbers
    set -- $(medians all)
    row "accuracy: $subject, $way" "$(printf %.2f "$1")" % "$limit" \
        "$(printf 'runs %s; frames %.1f; precise %.1f, ambiguous %.1f, incorrect %.1f, missing %.1f; said %.1f, calibration error %.3f; no truth %.1f; %s audits' \
            "$spread" "$2" "$3" "$4" "$5" "$6" "$7" "$9" "$8" "${10}")"
}

# record SUBJECT NAME OPTION...: recordings NAME.1, NAME.2, ... of its measured input with stack dumps.
record()
{
    subject=$1 name=$2
    shift 2
    recorded=
    number=0
    while [ $((number += 1)) -le "$runs" ]; do
        run "$subject" measured "$fathom" evaluate -q "$@" -o "$name.$number" -- >/dev/null
        recorded="$recorded $name.$number"
    done
}

# train SUBJECT INPUT...: every call, into INPUT.fmap of the first.
train()
{
    subject=$1 map=$2.fmap
    shift
    rm -f "$map"
    for input; do
        run "$subject" "$input" "$fathom" train -q --append -o "$map" -- >/dev/null
    done
}

# commands SUBJECT INPUT...: what run() runs.
commands()
{
    subject=$1
    shift
    for input; do
        row "accuracy: $subject, $input input" "" "" "" "$(run "$subject" "$input" echo)"
    done
}

# with_map SUBJECT HZ OFFLINE UNSMOOTHED ONLINE: the rows that need training, with their limits in percent.
with_map()
{
    subject=$1 hz=$2
    commands "$1" measured other
    train "$1" measured
    train "$1" other
    record "$1" data -F "$hz"
    show "$1" "offline" "$3" "$recorded" -m measured.fmap
    show "$1" "offline, --no-temporal" "$4" "$recorded" -m measured.fmap --no-temporal
    show "$1" "online" "$5" "$recorded" -m other.fmap
}

# without_map SUBJECT HZ: the rows without a training run, by about so many audit samples in all. After with_map,
# whose recordings are without any, and tell how long the program runs.
without_map()
{
    seconds=$(awk -v samples="$samples" -v hz="$2" 'BEGIN { print samples / hz }')
    show "$1" "no training, --audit 0" - data.1 --audit 0
    for audits in 100 1000; do
        rate=$(awk -v audits=$audits -v seconds="$seconds" 'BEGIN { printf "%.0f", audits / seconds }')
        record "$1" audited -F "$2" --audit "$rate"
        limit=">= 95"
        [ $audits = 100 ] || limit=">= 97"
        show "$1" "no training, --audit $rate" "$limit" "$recorded"
    done
}

# automaton SUBJECT MAP OTHER COUNT: what CIDs cost that only the map OTHER has.
automaton()
{
    "${fathom%/*}"/bench/bench_automaton "$2" "$3" "$4" >costs
    while IFS="$(printf '\t')" read -r name value unit limit more; do
        row "$1: $name" "$value" "$unit" "$limit" "$more"
    done <costs
}

small() { built "$programs" sources plain "$@"; }
subjects=${*:-bzip2 lua5.4 sqlite3 perl gnugo speedtest1}
small || exit 1
case " $subjects " in *" gnugo "*) small gnugo || subjects=$(echo "$subjects" | sed s/gnugo//) ;; esac
case " $subjects " in *" speedtest1 "*) small speedtest1 || subjects=$(echo "$subjects" | sed s/speedtest1//) ;; esac
prepare

row figure measured unit limit "evaluate's other figures, in % of the weight"
row "accuracy: load at its start" "$(cut -d ' ' -f 1 /proc/loadavg)" processes "" "on $(nproc) cores"
cat <<'END'
accuracy: gnugo with -F 10000, the others with -F 2000:
accuracy: offline: fathom train -o MAP -- MEASURED; fathom evaluate -F 2000 -m MAP -- MEASURED
accuracy: online: fathom train -o MAP -- OTHER; fathom evaluate -F 2000 -m MAP -- MEASURED
accuracy: no training: fathom evaluate -F 2000 --audit HZ -- MEASURED
END
for subject in $subjects; do
    case $subject in
    bzip2 | lua5.4 | sqlite3 | perl)
        with_map "$subject" 2000 ">= 99" ">= 97" ">= 97"
        without_map "$subject" 2000
        ;;
    gnugo)
        with_map gnugo 10000 ">= 90" - -
        automaton gnugo measured.fmap other.fmap 50
        ;;
    speedtest1)
        commands speedtest1 measured cte orm
        train speedtest1 cte orm
        record speedtest1 data -F 2000
        show speedtest1 "entry untrained" ">= 85" "$recorded" -m cte.fmap
        show speedtest1 "entry untrained, --audit 0" - "$recorded" -m cte.fmap --audit 0
        train speedtest1 measured
        automaton speedtest1 cte.fmap measured.fmap 2000
        ;;
    *) say "no such subject: $subject" && exit 1 ;;
    esac
    rm -f ./*.fmap data.* audited.*
done
