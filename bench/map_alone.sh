#!/bin/sh
# map_alone.sh NAME INPUTS COMMAND...: what is said of recordings without a stack of their own, by maps of other inputs. '%' in
# COMMAND is the input's number, 1 to INPUTS (a shell script with a case for each, perhaps). $WAY: how to train.
#
# Each input is trained on and recorded. Each recording is then judged with the map of the next input (the last one's: of the
# first), and with that of all others together. Prints percent of the weight: right, said, the range, and whether right is in it.
set -eu
: "${FATHOM:=fathom}" "${WAY:=--via unwind -F 1000}"
name=$1 inputs=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # NUMBER WHAT...: with the input's command
    number=$1
    shift
    # shellcheck disable=SC2046 # a list
    "$@" -- $(echo "$command" | sed "s/%/$number/g") >/dev/null 2>&1 || true # the command's own status
}
command=$*

for i in $(seq "$inputs"); do
    # shellcheck disable=SC2086 # options
    run "$i" "$FATHOM" train -q $WAY -o "$work/$i.fmap"
    run "$i" "$FATHOM" evaluate -q -F 1000 -o "$work/$i.data"
done
for i in $(seq "$inputs"); do
    others=$(seq "$inputs" | grep -vx "$i" | sed "s|.*|$work/&.fmap|")
    # shellcheck disable=SC2086 # a list
    "$FATHOM" map merge -q -o "$work/others.fmap" $others
    for map in $((i % inputs + 1)) others; do
        "$FATHOM" evaluate -q -i "$work/$i.data" --audit 0 -m "$work/$map.fmap" --format json |
            awk -v name="$name $i" -v map="$map" '
                /^ "(said|said_least|said_most)":/ { sub(/,/, ""); gsub(/[":]/, ""); of[$1] = $2 }
                /^ "(right|all)":/ { key = $1; gsub(/[":]/, "", key); of[key] = $NF + 0 }
                END {
                    right = of["right"] / of["all"]; least = of["said_least"] / of["all"]; most = of["said_most"] / of["all"]
                    printf "%-12s %-6s right %5.1f  said %5.1f  (%5.1f to %5.1f)  %s\n", name, map == "others" ? "others" : "one",
                        100 * right, 100 * of["said"] / of["all"], 100 * least, 100 * most,
                        (right >= least && right <= most ? "in range" : "outside")
                }'
    done
    "$FATHOM" map info "$work/others.fmap" | grep predicted
done
