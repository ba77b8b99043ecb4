# What the tests of stores share: roll-ups of a store, which must change no report.
#
# roll_up_test STORE OTHER OPTION...: of two new stores, with options that both need; OTHER is never rolled up. In a directory with the
# recordings stages.data and containers.data.
# shellcheck shell=sh disable=SC2086 # options are words

# roll_up_put RECORDING HOST TIME: into both. Some bytes at the end make it another recording.
roll_up_put()
{
    cp "$1" another.data && echo "$2 $3" >>another.data
    for roll_up_store in "$rolled" "$other"; do
        "$FATHOM" store import -q $login -i another.data --service web --host "$2" --ended "$3" "$roll_up_store" || return 1
    done
}

# roll_up_tell STORE FILE: what it reports, as bytes.
roll_up_tell()
{
    for roll_up_options in "" "--since 2026-03-01T03:00 --until 2026-03-01T11:00" \
        "--since 2026-03-01T03:25 --until 2026-03-02T09:00 --host h2" "--build f" "--format folded --until 2026-03-02"; do
        "$FATHOM" report -q --format json --store "$1" $login --service web $roll_up_options
    done >"$2" 2>&1
    "$FATHOM" report -q --store "$1" $login --service web --format html -o page.html
    grep -v "<title>" page.html >page.lines
    for roll_up_sides in "until=2026-03-02 since=2026-03-02" "host=h1,until=2026-03-02 host=h1,since=2026-03-02"; do
        "$FATHOM" diff --format json --store "$1" $login --service web $roll_up_sides
    done >differences 2>&1
    "$FATHOM" store hosts $login "$1" | cat "$2" page.lines differences - >all
    mv all "$2"
}

# roll_up_same WHAT
roll_up_same()
{
    roll_up_tell "$rolled" got
    roll_up_tell "$other" wanted
    check "$1" cmp wanted got
}

# roll_up_says WHAT HOURS DAYS
roll_up_says()
{
    exits 0 "$1" "$FATHOM" store roll-up $login "$rolled"
    check "... says what it made" grep -q -E "$2 hours? and $3 days? rolled up" err
}

roll_up_test()
{
    rolled=$1 other=$2
    shift 2
    login=$*
    for roll_up_time in 2026-03-01T00:05 2026-03-01T03:22 2026-03-01T03:48 2026-03-01T10:05 2026-03-01T23:58 2026-03-02T09:10; do
        roll_up_put stages.data h1 $roll_up_time
        roll_up_put containers.data h2 $roll_up_time
        roll_up_put inferred.data h2 $roll_up_time
    done
    roll_up_says "roll-up" 5 2
    roll_up_same "... leaves all reports as they are"
    check "... which have samples" grep -q '^ *"samples": [1-9]' got
    roll_up_says "once more" 0 0
    roll_up_put inferred.data h1 2026-03-01T03:10
    roll_up_same "a batch that comes late is counted at once"
    roll_up_says "... and rolled up" 1 1
    roll_up_same "... once"
    roll_up_put stages.data h3 2026-03-02T13:10
    exits 0 "roll-up of what is new" "$FATHOM" store roll-up $login --since 2026-03-02 "$rolled"
    roll_up_put containers.data h3 now
    roll_up_says "the hour that is not over" 0 0
    for tries in 0 1 2 3 4 5; do
        roll_up_put stages.data h$tries 2026-03-01T1$tries:40
        "$FATHOM" store roll-up -q $login "$rolled" 2>/dev/null &
        pid=$!
        sleep 0.0$tries
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    roll_up_same "roll-ups that were killed"
    for tries in 1 2 3; do
        "$FATHOM" store roll-up -q $login "$rolled" 2>/dev/null &
        pids="${pids:-} $!"
    done
    wait $pids
    roll_up_same "... and several at the same time change nothing"
    roll_up_says "what they left" 0 0
    for roll_up_store in "$rolled" "$other"; do
        "$FATHOM" store retain -q $login --keep 2026-03-02 "$roll_up_store"
    done
    roll_up_same "what is removed is removed of roll-ups"
    refuses 2 "is no time" "a time that is none" "$FATHOM" store roll-up $login --since tomorrow "$rolled"
}
