#!/bin/sh
# What a sample costs the program that is recorded, beside the least that a recorder can do (flat_record: IP and TID) and
# beside perf: `record.sh FATHOM [ROUNDS]`, as root. A loop of system calls with a sample at each, in its own CPU time;
# rounds are interleaved, and each way is compared with flat of the same round.
fathom=$1 rounds=${2:-9}
here=$(dirname "$fathom")/bench
. "$(dirname "$0")/rows.sh"
calls=300000 event=syscalls:sys_enter_getppid
[ "$(id -u)" = 0 ] || { say "tracepoints need root"; exit 1; }
id=$(cat /sys/kernel/tracing/events/syscalls/sys_enter_getppid/id 2>/dev/null) || {
    mount -t tracefs none /sys/kernel/tracing && id=$(cat /sys/kernel/tracing/events/syscalls/sys_enter_getppid/id)
}
ours="$fathom record -q --ring 32768 -e $event -c 1 -o $directory/data"
peer="perf record -q -m 32M -e $event -c 1 -o $directory/data"
loop() { "$@" "$here/cpu_of" "$directory/ms" "$here/syscall_loop" $calls >/dev/null 2>&1 && cat "$directory/ms"; }

: >"$directory/rows"
for round in $(seq "$rounds"); do
    none=$(loop env)
    flat=$("$here/flat_record" "$id" "$directory/data" "$directory/ms" "$here/syscall_loop" $calls && cat "$directory/ms")
    passive=$(loop $ours --dumps none --audit 0 --)
    verified=$(loop $ours --)
    stock=$(loop $peer)
    chain=$(loop $peer -g)
    dwarf=$(loop $peer --call-graph dwarf)
    echo "$none $flat $passive $verified $stock $chain $dwarf" | awk -v calls=$calls '
        { for (i = 2; i <= 7; i++) printf "%.1f ", ($i - $1) / calls * 1e6
          for (i = 3; i <= 7; i++) printf "%.3f ", ($i - $1) / ($2 - $1); print "" }' >>"$directory/rows"
    say "round $round: $(tail -n 1 "$directory/rows")"
done
set -- $(medians "$directory/rows")
row "cost of a sample: IP and TID alone" "$1" ns
row "fathom record, no stacks compared" "$2" ns "<= 1.25" "$7 times that"
row "fathom record, stacks compared (BPF)" "$3" ns "" "$8 times"
row "perf record" "$4" ns "" "$9 times"
row "perf record -g" "$5" ns "" "${10} times"
row "perf record --call-graph dwarf" "$6" ns "" "${11} times"
