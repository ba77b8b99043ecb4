#!/bin/sh
# Prints what it costs to profile a program and to send what was found to a store, as Figure 15 of the paper on phase-aware remote
# profiling: by policy, for two protocols, "at end" (one file, sent when it ended) and "interleaved" (a file each 10 s, each sent
# at once, without the names that the store acknowledged).
#
# protocols.sh FATHOM CPU_OF URL COMMAND...: URL is a database of ClickHouse that may be made anew. Each policy has the share of
# the intervals that an error of 5% of regions takes (docs/benchmarks.md, "Phases"). The costly event is page faults, each of them.
# Columns: policy, protocol, files, samples, bytes sent, CPU time of the recorder and of the sender, ms.
set -eu
fathom=$1 cpu_of=$2 url=$3
shift 3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory"

# policy NAME OPTION...
policy()
{
    name=$1
    shift
    for protocol in end interleaved; do
        rm -f recorded* known
        switch=
        [ $protocol = end ] || switch="--switch 10s"
        "$fathom" store init -q "$url"
        # The program waits for the recorder, so that the recorder's CPU time is its own.
        sh -c 'kill -STOP $$; exec "$@"' sh $command >/dev/null 2>&1 &
        program=$!
        # shellcheck disable=SC2086 # words
        "$cpu_of" recorder.ms "$fathom" record -q -e cpu-clock,page-faults $switch "$@" -o recorded -p $program &
        recorder=$!
        sleep 1
        kill -CONT $program
        wait $program || true
        wait $recorder || true
        sender=0 bytes=0 samples=0 files=0
        for file in recorded*; do
            "$cpu_of" sender.ms "$fathom" store import --json --known known --service bench --host "$name-$protocol" -i "$file" "$url" >sent.json
            sender=$(echo "$sender $(cat sender.ms)" | awk '{ print $1 + $2 }')
            bytes=$((bytes + $(sed -n 's/.*"sent": *\([0-9]*\).*/\1/p' sent.json)))
            samples=$((samples + $(sed -n 's/.*"samples": *\([0-9]*\).*/\1/p' sent.json)))
            files=$((files + 1))
        done
        printf '%-12s %-12s %3d %8d %9d %9.0f %9.0f\n' "$name" $protocol $files $samples $bytes "$(cat recorder.ms)" "$sender"
    done
}
command=$*
policy all
policy phases --phases 100 --phases-policy third:28
policy periodic --phases 100 --phases-policy periodic:4
policy random --phases 100 --phases-policy chance:2
