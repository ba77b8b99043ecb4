#!/bin/sh
# Prints how good inference is on the stored recordings (tests/stored), for a change of the model to be compared with
# what was before: "make bench-stored" runs it.
#
# stored.sh FATHOM SOURCE [SUBJECT...]: SUBJECT is a program of tests/stored, all of them when none is named. A mode is
# what is learned from: audit samples by a clock, or what a recording that compares stacks would have kept with a small
# budget. For each: the mean of five recordings of the weight that is on the right path and that is said to be, the
# calibration error, and CPU time in all. OPTIONS (in the environment) go to `fathom evaluate`.
set -eu
fathom=$1 stored=$2/tests/stored
shift 2
[ $# -gt 0 ] || set -- lua5.4 containers perl sqlite3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory"
umask 077
mkdir -p nothing
"$stored/unpack" cache . "$@"
XDG_CACHE_HOME=$PWD/cache HOME=$PWD
export XDG_CACHE_HOME HOME

# evaluate SUBJECT OPTION...: prints the right weight, all of it, what was said and the calibration error, by recording.
evaluate()
{
    subject=$1
    shift
    for number in 1 2 3 4 5; do
        # shellcheck disable=SC2086 # options are words
        "$fathom" evaluate -q --symfs nothing --format json -i "$subject/$number.data" "$@" ${OPTIONS:-} >out
        awk -F '[:,} ]+' '/^ "right":/ { right = $6 } /^ "all":/ { all = $6 } /^ "said":/ { said = $3 }
            /^ "calibration_error":/ { error = $3 } END { print right, all, said, error }' out
    done
}

# Sets $cpu, the seconds of the programs that ended so far.
cpu_time()
{
    times >times
    cpu=$(awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4 }' times)
}

# mode NAME OPTION...
mode()
{
    name=$1
    shift
    for subject in $subjects; do
        cpu_time
        before=$cpu
        evaluate "$subject" "$@" >figures
        cpu_time
        awk -v name="$name" -v subject="$subject" -v cpu="$cpu" -v before="$before" '
            { right += $1 / $2; said += $3 / $2; error += $4 }
            END { printf "%-22s %-12s %6.2f%% %6.2f%% %8.4f %6.2f s\n", name, subject, 100 * right / NR, 100 * said / NR,
                         error / NR, cpu - before }' figures
    done
}

subjects=$*
printf '%-22s %-12s %7s %7s %8s %8s\n' "learned from" "subject" "right" "said" "error" "CPU time"
mode "audit samples"
mode "stacks, all" --verify all
mode "stacks, 50 and 10/s" --verify all --dumps 50,10
mode "stacks, 20" --verify all --dumps 20,0
mode "not compared, 60" --verify none --dumps 60,0
