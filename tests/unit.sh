#!/bin/sh
# Runs one Criterion program and prints its results as TAP: "unit.sh PROGRAM".
#
# The driver counts each "not ok" as a failure and an exit status as one more: status 1 that only repeats what
# was said is dropped, any other (the program crashed, a sanitizer ended it) stays. What failed runs once more, since TAP
# leaves out what a sanitizer said.
output=$("$1" --tap=- -j1 --timeout 120 2>&1 </dev/null)
status=$?
printf '%s\n' "$output"
[ $status = 0 ] || "$1" -j1 --timeout 120 2>&1 </dev/null | sed 's/^/# /'
case $status:$output in
1:*"
not ok "*) exit 0 ;;
esac
exit $status
