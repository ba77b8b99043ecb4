# What the end-to-end tests share: TAP, a directory of their own, running commands, weighing folded reports.
#
# A test starts with ". "$top_srcdir/tests/e2e/lib.sh"" and ends with "finish". It runs in a directory of its own
# that goes when it ends; $FATHOM is the program under test, $programs the directory of tests/programs.
# shellcheck shell=sh disable=SC2034
set -u
: "${FATHOM:?}" "${top_builddir:?}" "${top_srcdir:?}"
LC_ALL=C.UTF-8
DEBUGINFOD_URLS=
FATHOM_PAGER=cat # on the terminals that tests make
FATHOM_NO_CACHE=1 # what a report says is that of its recording alone
export LC_ALL DEBUGINFOD_URLS FATHOM_PAGER FATHOM_NO_CACHE
programs=$top_builddir/tests/programs
workloads=$top_srcdir/tests/workloads
fast="env TEST_SPEED=10" # before a command: those of $programs take a tenth of their time
tests_run=0
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-test.XXXXXX") || exit 99
# What was started with "&" and put into $background is ended too.
background=
recorder=
groups=
clean_up()
{
    # shellcheck disable=SC2086 # a list
    [ -z "$background$recorder" ] || kill -9 $background $recorder 2>/dev/null
    for made_group in $groups; do # the inner ones first
        kill_group "$made_group"
    done
    cd / && chmod -R u+rwx "$work" && rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99

# TAP --------------------------------------------------------------------------------------------------------

ok() { tests_run=$((tests_run + 1)); echo "ok $tests_run - $*"; }

not_ok() { tests_run=$((tests_run + 1)); echo "not ok $tests_run - $*"; }

skip() { tests_run=$((tests_run + 1)); echo "ok $tests_run - $1 # SKIP $2"; }

note() { sed 's/^/# /'; }

finish() { judge_paths; echo "1..$tests_run"; exit 0; }

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# check DESCRIPTION COMMAND...: the command's status decides; what it printed explains a failure.
check()
{
    check_description=$1
    shift
    if "$@" >check.out 2>&1; then
        ok "$check_description"
    else
        not_ok "$check_description"
        echo "# $*"
        head -n 30 check.out | note
        return 1
    fi
}

# Commands ---------------------------------------------------------------------------------------------------

# run COMMAND...: within 120 seconds. Sets $status; the output is in the files out and err.
run()
{
    timeout -k 5 120 "$@" >out 2>err </dev/null
    status=$?
    if [ "$1" = "$FATHOM" ] && [ "${2-}" = report ]; then
        case $status in
        0 | 7) check_paths "$@" ;;
        esac
    fi
}

# The paths that reports show are held against the programs' code (tests/checker): each recording once for every set
# of options that has a say in its paths, and once more by the map alone if there is one. finish tells the result as a test of its own. Set $damaged around reports of
# recordings whose bytes were changed: what they say of their files' names and places is not true. CHECK_PATHS=no: not at all.
checked=0
damaged=
check_paths()
{
    [ -z "$damaged" ] && [ "${CHECK_PATHS-}" != no ] || return
    shift 2
    input=perf.data map_read=
    for argument; do
        shift
        case ${before-}:$argument in
        -i:* | --input:*) input=$argument ;;
        -m:* | --map:*) map_read=$argument && set -- "$@" "$before" "$argument" ;;
        --event:*) set -- "$@" "$before" "$argument" ;;
        *:--no-cache | *:--no-inline) ;; # which have no say in what is right
        *:--no-*) set -- "$@" "$argument" ;;
        esac
        before=$argument
    done
    before=
    [ -f "$input" ] || return # --help, or a pipe that was read
    key="$* $(stat -L -c '%n %i %s %Z' "$input" ${map_read:+"$map_read"} 2>/dev/null | tr '\n' ' ')"
    grep -Fqx -e "$key" "$work/.reports" 2>/dev/null && return
    echo "$key" >>"$work/.reports"
    judge_report "$@"
    case " $*" in
    *" -m "* | *" --map "*) judge_report "$@" --no-audit ;;
    esac
}

judge_report()
{
    timeout -k 5 120 "$top_builddir/tests/checker/paths" -i "$input" "$@" >"$work/.checker" 2>&1 </dev/null ||
        { echo "status $?: -i $input $*" && cut -c 1-600 "$work/.checker"; } >>"$work/.impossible"
    checked=$((checked + 1))
}

judge_paths()
{
    [ $checked != 0 ] || return
    if [ -s "$work/.impossible" ]; then
        not_ok "the paths of $checked reports are possible"
        head -n 60 "$work/.impossible" | note
    else
        ok "the paths of $checked reports are possible"
    fi
}

# exits STATUS DESCRIPTION COMMAND...: runs it and compares the exit status.
exits()
{
    exits_want=$1 exits_description=$2
    shift 2
    run "$@"
    if [ $status = "$exits_want" ]; then
        ok "$exits_description"
    else
        not_ok "$exits_description (status $status, expected $exits_want)"
        echo "# $*"
        tail -n 20 err | note
        return 1
    fi
}

# refuses STATUS PATTERN DESCRIPTION COMMAND...: a failure that says why: the status, and on stderr "fathom: ..."
# with a text that the extended regular expression matches; no core dump, no sanitizer report.
refuses()
{
    refuses_want=$1 refuses_pattern=$2 refuses_description=$3
    shift 3
    run "$@"
    if [ $status = "$refuses_want" ] && grep -Eq "$refuses_pattern" err && grep -q '^fathom' err &&
        ! grep -q 'Sanitizer' err; then
        ok "$refuses_description"
    else
        not_ok "$refuses_description (status $status, expected $refuses_want with \"$refuses_pattern\")"
        echo "# $*"
        tail -n 20 err | note
        return 1
    fi
}

# Waiting: for a condition, however long it takes on a busy machine --------------------------------------------

# await COMMAND...: until it succeeds; false: not within a minute or two.
await()
{
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}

# ticks PID: the CPU time that it has used, in 1/100 s.
ticks()
{
    ticks_stat=$(cat "/proc/$1/stat" 2>/dev/null)
    # shellcheck disable=SC2086 # words
    set -- ${ticks_stat##*) }
    echo $((${12:-0} + ${13:-0}))
}

# work TICKS PID: waits until it has used so much more.
work()
{
    work_end=$(($(ticks "$2") + $1))
    await has_used $work_end "$2"
}
has_used() { [ "$(ticks "$2")" -ge "$1" ]; }

# samples PID: whether this fathom has opened its events.
samples() { ls -l "/proc/$1/fd" | grep -q perf_event; }

# is_zombie PID: whether it has ended, and its parent has not asked for it.
is_zombie() { grep -q '^State:.*Z' "/proc/$1/status"; }

# during TICKS PID COMMAND...: runs a fathom until a process has used so much CPU time under it, then interrupts it. Sets
# $status; the output is in the files out and err.
during()
{
    during_ticks=$1 during_pid=$2
    shift 2
    "$@" >out 2>err </dev/null &
    recorder=$!
    await samples $recorder && work "$during_ticks" "$during_pid"
    kill -INT $recorder
    wait $recorder
    status=$?
    recorder=
}

# A user without the right to load BPF programs -----------------------------------------------------------------

# make_user: a directory `theirs`, which that user may write to, with the program in it and the command as_user COMMAND..., which needs no other file of ours. The test is
# skipped where an ordinary user may not record.
make_user()
{
    [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null || skip_all "root, and setpriv is not installed"
    chmod 755 "$work"
    mkdir -m 777 theirs
    cp "$FATHOM" theirs/fathom
    chmod 755 theirs/fathom
    {
        echo '#!/bin/sh'
        if [ "$(id -u)" = 0 ]; then
            # shellcheck disable=SC2016 # for the script
            echo 'exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="${0%/*}" "$@"'
        else
            echo 'exec "$@"'
        fi
    } >theirs/as_user
    chmod +x theirs/as_user
    theirs/as_user theirs/fathom record -q -o theirs/try.data -- true >try.out 2>&1 ||
        skip_all "an ordinary user may not record: $(grep . try.out | head -n 1)"
}

# Control groups -----------------------------------------------------------------------------------------------

# Where they are mounted, with the controller perf_event.
cgroup_root()
{
    awk '{ for (i = 7; $i != "-"; i++); type = $(i + 1) }
        type == "cgroup" && ("," $(i + 3) ",") ~ /,perf_event,/ { first = $5 }
        type == "cgroup2" { second = $5 }
        END { print first ? first : second }' /proc/self/mountinfo
}

# make_groups DIRECTORY...: outer ones first. They go when the test ends, with what runs in them.
make_groups()
{
    for made_group; do
        mkdir "$made_group" 2>groups.err || return
        groups="$made_group $groups"
    done
}
kill_group()
{
    [ -d "$1" ] || return 0
    while kill -9 $(cat "$1/cgroup.procs") 2>/dev/null; do sleep 0.1; done
    rmdir "$1"
}

# in_group DIRECTORY COMMAND...: runs it in the group; "": in ours.
in_group() { sh -c 'group=$1; shift; [ -z "$group" ] || echo $$ >"$group/cgroup.procs"; exec "$@"' sh "$@"; }

# counts_clock [OPTION]: whether the kernel opens this event, of which it asks the same rights whether it is sampled or counted. perf record
# takes fifteen times as long.
counts_clock() { perf stat -x, -e cpu-clock:u "$@" true >need.out 2>&1 && grep -q '^[0-9.]*,msec' need.out; }

# May this user sample at all? Stock perf is asked, so that a fault of ours is no reason to skip.
need_perf_events()
{
    command -v perf >/dev/null || skip_all "perf is not installed"
    counts_clock || skip_all "the kernel refuses to sample: $(grep . need.out | head -n 1)"
    rm -f need.out
}

# May this user sample all processes? If not, $why.
may_sample_all()
{
    counts_clock -a && return
    why="the kernel refuses to sample all processes: $(grep . need.out | head -n 1)"
    return 1
}

# Folded reports: "root;...;leaf WEIGHT" a line --------------------------------------------------------------

# frames A B C: a pattern for paths that end in these functions, one right below the other; "..." stands for any
# number of frames, "^" as the first for the root.
frames()
{
    pattern="(^|;)" before=""
    for frame; do
        case $frame in
        ^) pattern="^" ;;
        ...) before="$before([^;]+;)*" ;;
        *)
            pattern="$pattern$before$(printf %s "$frame" | sed 's/[][().*+?$|{}]/[&]/g')"
            before=";"
            ;;
        esac
    done
    # "..." at the end: whatever else was called.
    case $before in
    *'*') echo "$pattern(;|\$)" ;;
    *) echo "$pattern\$" ;;
    esac
}

# share FILE PATTERN: percent of the file's weight on the paths that match. (A value of -v loses its backslashes, in
# gawk others than in mawk.)
share()
{
    pattern=$2 awk '
        BEGIN { pattern = ENVIRON["pattern"] }
        { weight = $NF; path = $0; sub(/ [0-9.]+$/, "", path); all += weight }
        path ~ pattern { sum += weight }
        END { if (all <= 0) exit 1; printf "%.2f\n", 100 * sum / all }' "$1"
}

# has_share FILE PATTERN EXPECTED TOLERANCE DESCRIPTION: both in percent of the whole weight.
has_share()
{
    found=$(share "$1" "$2") || found=nothing
    if awk -v f="$found" -v e="$3" -v t="$4" 'BEGIN { exit !(f != "nothing" && f >= e - t && f <= e + t) }'; then
        ok "$5"
    else
        not_ok "$5: $found%, expected $3 +- $4"
        echo "# $2"
        awk '{ print $NF "\t" $0 }' "$1" | sort -rn | cut -f 2- | pattern=$2 awk '
            { path = $0; sub(/ [0-9.]+$/, "", path); matches = path ~ ENVIRON["pattern"] }
            ++shown[matches] <= 8 { print matches ? "it is:" : "not:  ", substr($0, 1, 400) }' | note
    fi
}

# has_between FILE PATTERN LOW HIGH DESCRIPTION
has_between()
{
    has_share "$1" "$2" "$(awk "BEGIN { print ($3 + $4) / 2 }")" "$(awk "BEGIN { print ($4 - $3) / 2 }")" "$5"
}

# has_not FILE PATTERN DESCRIPTION: no weight at all on such paths.
has_not() { has_share "$1" "$2" 0 0 "$3"; }

# Figures of evaluate --format json --------------------------------------------------------------------------

# at_least NUMBER FLOOR: false if either is empty.
at_least() { awk -v n="$1" -v f="$2" 'BEGIN { exit !(n != "" && f != "" && n + 0 >= f + 0) }'; }

# figure KEY FILE: a number of the outermost object.
figure() { sed -n "s/^ \"$1\": \([0-9.]*\),*$/\1/p" "$2"; }

# weight KEY FILE: the weight of a tally ("right", "all", "precise", ...).
weight() { sed -n "s/^ \"$1\": {\"paths\": [0-9]*, \"weight\": \([0-9]*\)}.*/\1/p" "$2"; }

# right_share FILE: percent of the weight on the right path.
right_share() { awk -v r="$(weight right "$1")" -v a="$(weight all "$1")" 'BEGIN { if (a > 0) printf "%.2f", 100 * r / a }'; }
