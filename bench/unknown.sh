#!/bin/sh
# Compares the weight that two builds of fathom leave unknown in the same recordings: "unknown.sh OLD NEW FILE...".
#
# A line for each recording: percent of the weight by the old program, by the new one, the file; a second one with
# the map NAME.fmap, where that stands beside a recording NAME.data. Exit 1 when the new one leaves more unknown in
# some recording (by more than 0.05 percent of its weight).
set -u
[ $# -ge 3 ] || { echo "usage: unknown.sh OLD NEW FILE..." >&2; exit 2; }
old=$1 new=$2
shift 2

# unknown FATHOM OPTION...: percent; "failed" when there is no report.
unknown()
{
    fathom=$1
    shift
    "$fathom" report -q "$@" --format folded 2>/dev/null | awk '
        { all += $NF }
        /\[unknown context\]/ { sum += $NF }
        END { if (all > 0) printf "%.2f\n", 100 * sum / all; else print "failed" }'
}

# compare NAME OPTION...: a line.
compare()
{
    name=$1
    shift
    before=$(unknown "$old" "$@") after=$(unknown "$new" "$@")
    printf '%6s %6s  %s\n' "$before" "$after" "$name"
    awk -v b="$before" -v a="$after" 'BEGIN { exit a == "failed" && b != "failed" || a - b > 0.05 }' || more=1
}

more=0
echo "   old    new  recording"
for file; do
    map=${file%.data}.fmap
    compare "$file" -i "$file"
    [ "$map" = "$file.fmap" ] || [ ! -f "$map" ] || compare "$file with $map" -i "$file" -m "$map"
done
exit $more
