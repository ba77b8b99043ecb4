# What the benchmark scripts begin and print with: to be read (".") by them. Makes a directory for their files, which
# goes when they end.
# shellcheck shell=sh
LC_ALL=C
export LC_ALL
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' INT TERM

row() { printf '%-46s %12s %-12s %-10s %s\n' "$1" "$2" "$3" "$4" "${5:-}"; }
say() { echo "bench: $*" >&2; }

# medians FILE: the median of each column.
medians()
{
    for column in $(awk 'NR == 1 { for (i = 1; i <= NF; i++) print i }' "$1"); do
        awk -v column="$column" '{ print $column }' "$1" | sort -n |
            awk '{ v[NR] = $1 } END { printf "%s ", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
    done
}
