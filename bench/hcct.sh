#!/bin/sh
# Prints what an event of a call trace costs in each counter, and how good the counter is: "make bench-hcct" runs it.
#
# hcct.sh FATHOM SOURCE: records a trace of CPython, sqlite3 and Lua (phi 1e-4, eps phi/5, contexts with call sites), and
# replays it. The traces have 30 to 160 million events: they take 0.9 GB of TMPDIR, and replaying 4 GB of memory.
set -eu
fathom=$1 source=$2
. "$source"/bench/rows.sh
cd "$directory"

record()
{
    case $1 in
    CPython) "$fathom" hcct record -q -o trace -- /usr/bin/python3 "$source/bench/trees.py" 75 ;;
    sqlite3)
        { echo ".parameter set @n 60000" && cat "$source/tests/workloads/shop.sql"; } >input
        "$fathom" hcct record -q -o trace -- sqlite3 :memory: <input
        ;;
    Lua) "$fathom" hcct record -q -o trace -- lua5.4 "$source/tests/workloads/words.lua" 5 ;;
    esac >/dev/null
}

# What is to be reached, in ns for an event.
limit_of()
{
    case $1-$2 in
    CPython-purge) echo "<= 7" ;;
    CPython-exact) echo "<= 6.5" ;;
    sqlite3-purge) echo "<= 3.3" ;;
    esac
}

row figure measured unit limit "false hot, missed; mean error, corrected; peak MB"
for program in CPython sqlite3 Lua; do
    record $program
    for weights in "" --ticks; do
        # shellcheck disable=SC2086 # nothing or a word
        "$fathom" hcct replay --runs 3 $weights trace >table
        [ -n "$weights" ] || {
            row "$program: events" "$(sed -n '1s/ .*//p' table)" "" "" "$(sed -n '1s/.*, \([0-9]* contexts\).*/\1/p' table)"
            row "$program: reading the events" "$(sed -n '2s/.*: \([0-9.]*\) ns.*/\1/p' table)" ns/event ""
        }
        for counter in exact lss bss lc sticky purge; do
            # shellcheck disable=SC2046 # words
            set -- $(grep "^$counter " table)
            row "$program: $counter${weights:+, by ticks}" "$2" ns/event "$(limit_of $program $counter)" \
                "$6, $7; ${13}, ${15}; $4"
        done
    done
done
