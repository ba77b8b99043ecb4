#!/bin/sh
# Prints what exhaustive training costs programs, beside its peers: "make bench" and "make bench-train" run it.
#
# train.sh FATHOM SOURCE PEERS: PEERS is a directory in which programs built for the peers are kept.
#
# The slow-down is a ratio of CPU times (the program's and all that its helpers use), as elapsed time tells of
# other users of the machine; elapsed time is printed beside it. Each run is paired with a plain one just before,
# and the median ratio counts. Debian's own programs are trained. The peers need programs of their own, built here
# from Debian's source packages and compared with a plain build of these, at a tenth of the work, as uftrace
# writes 32 bytes a call. Perl takes too long to build: no peers for it.
# Needs perf, uftrace, dpkg-dev, tcl and the programs (scripts/setup bench).
set -eu
LC_ALL=C
export LC_ALL
fathom=$1 source=$2 peers=$3
runs=5 peer_runs=3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' INT TERM
cd "$directory"

row() { printf '%-46s %12s %-12s %-10s %s\n' "$1" "$2" "$3" "$4" "${5:-}"; }
say() { echo "bench: $*" >&2; }

# Full and small size of a workload.
size_of()
{
    case $1 in
    lua5.4) echo 120 12 ;;
    sqlite3) echo 180000 18000 ;;
    bzip2) echo 20000000 2000000 ;;
    perl) echo 200000 20000 ;;
    esac
}

# Words in no order: bzip2 has something to sort. The same text each time.
make_text()
{
    awk -v size="$1" 'BEGIN {
        seed = 1
        while (n < size) {
            line = ""
            for (w = 0; w < 12; w++) {
                seed = (seed * 69069 + 1) % 4294967296
                line = line " " sprintf("%x", int(seed / 65536) % 5000 * 48271)
            }
            print line
            n += length(line) + 1
        }
    }' >text-"$1"
}

# run WORKLOAD SIZE PROGRAM [PREFIX...]: the workload by this program, behind the prefix.
run()
{
    workload=$1 size=$2 program=$3
    shift 3
    input=/dev/null
    case $workload in
    lua5.4) set -- "$@" "$program" "$source/tests/workloads/words.lua" "$size" ;;
    perl) set -- "$@" "$program" "$source/tests/workloads/log.pl" "$size" ;;
    bzip2)
        [ -e text-"$size" ] || make_text "$size"
        set -- "$@" "$program" -kc text-"$size"
        ;;
    sqlite3)
        input=orders-$size
        { echo ".parameter set @n $size" && cat "$source/tests/workloads/shop.sql"; } >"$input"
        set -- "$@" "$program" :memory:
        ;;
    esac
    "$@" <"$input"
}

# took WAY WORKLOAD SIZE PROGRAM: milliseconds of CPU time and elapsed ones. Its output is left in "said".
took()
{
    way=$1
    shift
    case $way in
    plain) prefix= ;;
    train) prefix="$fathom train --via patch -o map.fmap --" ;;
    hooks) prefix="$fathom train --via patch --image none -o map.fmap --" ;;
    uftrace) prefix="uftrace record -P . -d uftrace.data --" ;;
    esac
    rm -rf uftrace.data gmon.out
    start=$(date +%s%N)
    # shellcheck disable=SC2086 # the prefix is a list of words
    run "$@" perf stat -x ' ' -e task-clock -o cpu.txt -- $prefix >out 2>said || {
        say "$* under $way failed:"
        cat said >&2
        exit 1
    }
    end=$(date +%s%N)
    awk -v elapsed=$((end - start)) '/task-clock/ { print $1, elapsed / 1e6 }' cpu.txt
}

# medians FILE: the median of each column.
medians()
{
    for column in $(awk 'NR == 1 { for (i = 1; i <= NF; i++) print i }' "$1"); do
        awk -v column="$column" '{ print $column }' "$1" | sort -n |
            awk '{ v[NR] = $1 } END { printf "%s ", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
    done
}

# slowdown RUNS WAY WORKLOAD SIZE PROGRAM PLAIN_PROGRAM: ratio of CPU times, of elapsed ones, additional CPU time
# in ms.
slowdown()
{
    repeat=$1 how=$2 work=$3 amount=$4 with=$5 without=$6
    : >pairs
    while [ "$repeat" -gt 0 ]; do
        plain=$(took plain "$work" "$amount" "$without")
        mv out expected
        changed=$(took "$how" "$work" "$amount" "$with")
        cmp -s out expected || {
            say "$work has another output under $how"
            exit 1
        }
        echo "$plain $changed" | awk '{ print $3 / $1, $4 / $2, $3 - $1 }' >>pairs
        repeat=$((repeat - 1))
    done
    medians pairs
}

# Debian's source packages, by a copy of apt's configuration: the machine's own lists stay as they are.
fetch_sources()
{
    mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "$list" "$parts"/*.list; do
        [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >>apt/sources.list
    done
    for file in "$parts"/*.sources; do
        [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >apt/parts/"${file##*/}"
    done
    touch apt/sources.list
    options="-q -o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=$PWD/apt/parts
        -o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache"
    # shellcheck disable=SC2086 # a list of words
    apt-get $options update && apt-get $options source lua5.4 bzip2 sqlite3
}

# build KIND FLAGS...: the three programs with these flags, in KIND/.
build()
{
    kind=$1
    shift
    mkdir "$kind"
    ${CC:-gcc} -O2 -w "$@" -o "$kind"/bzip2 bzip2-*/bzip2.c bzip2-*/blocksort.c bzip2-*/huffman.c \
        bzip2-*/crctable.c bzip2-*/randtable.c bzip2-*/compress.c bzip2-*/decompress.c bzip2-*/bzlib.c
    ${CC:-gcc} -O2 -w "$@" -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E \
        -o "$kind"/lua5.4 lua5.4-*/src/l[!u]*.c lua5.4-*/src/lua.c lua5.4-*/src/lundump.c \
        lua5.4-*/src/lutf8lib.c -lm -ldl
    ${CC:-gcc} -O2 -w "$@" -DSQLITE_ENABLE_MATH_FUNCTIONS -o "$kind"/sqlite3 sqlite/shell.c sqlite/sqlite3.c \
        -lm -ldl -lpthread
}

build_peers()
{
    fetch_sources
    # A header that debian/rules writes.
    echo "#define DEB_HOST_MULTIARCH \"$(dpkg-architecture -qDEB_HOST_MULTIARCH)\"" >multiarch.h
    for at in lua5.4-*/src; do
        cp multiarch.h "$at"/lua5.4-deb-multiarch.h
    done
    mkdir sqlite
    (cd sqlite && ../sqlite3-*/configure -q --disable-tcl --disable-readline && make sqlite3.c shell.c)
    build plain
    build gprof -pg
    build hooks -finstrument-functions
    build sleds -fpatchable-function-entry=5
}

have_peers()
{
    [ ! -e "$peers"/complete ] || return 0
    say "building lua5.4, bzip2 and sqlite3 for the peers (some minutes)"
    rm -rf "$peers"
    mkdir -p "$peers"
    # In a shell of its own, in which a failed step ends it all.
    (set +e; (set -e; cd "$peers"; build_peers) >"$directory"/log 2>&1; echo $? >"$directory"/code)
    [ "$(cat code)" = 0 ] && touch "$peers"/complete && return 0
    tail -n 5 log >&2
    say "Debian's source packages could not be fetched and built: the peers are left out"
    return 1
}

for needed in perf lua5.4 sqlite3 bzip2 perl; do
    command -v $needed >/dev/null || {
        say "$needed is missing: scripts/setup bench"
        exit 1
    }
done
row figure measured unit limit peer
row "training: load at its start" "$(cut -d ' ' -f 1 /proc/loadavg)" processes "" "on $(nproc) cores"

: >means
for workload in lua5.4 sqlite3 bzip2 perl; do
    # shellcheck disable=SC2046 # two words
    set -- $(size_of $workload)
    # shellcheck disable=SC2046 # three words
    set -- $(slowdown $runs train $workload "$1" $workload $workload)
    calls=$(sed -n 's/.*train: \([0-9]*\) calls in.*/\1/p' said)
    echo "$1" >>means
    row "training: slow-down of $workload" "$(printf %.2f "$1")" x "" \
        "$(awk -v ratio="$2" -v more="$3" -v calls="$calls" 'BEGIN {
            printf "elapsed %.2f x; %.1f million calls, %.1f ns each", ratio, calls / 1e6, more * 1e6 / calls }')"
done
mean() { awk '{ sum += log($1) } END { printf "%.2f", exp(sum / NR) }' "$1"; }
row "training: slow-down, geometric mean" "$(mean means)" x "<= 3"

for needed in uftrace gprof dpkg-source tclsh; do
    command -v $needed >/dev/null || {
        say "$needed is missing, the peers are left out: scripts/setup bench"
        exit 0
    }
done
have_peers || exit 0
# peer_row NAME WAY KIND: a row of all three workloads.
peer_row()
{
    : >peer_means
    each=
    for workload in lua5.4 sqlite3 bzip2; do
        # shellcheck disable=SC2046 # two words
        set -- "$1" "$2" "$3" $(size_of $workload)
        # shellcheck disable=SC2046 # three words
        set -- "$1" "$2" "$3" \
            $(slowdown $peer_runs "$2" $workload "$5" "$peers/$3/$workload" "$peers/plain/$workload")
        echo "$4" >>peer_means
        each="$each, $workload $(printf '%.2f (elapsed %.2f)' "$4" "$5")"
        [ "$3" != gprof ] || gprof -b "$peers/$3/$workload" gmon.out >/dev/null
    done
    row "slow-down, three programs: $1" "$(mean peer_means)" x "" "${each#, }"
}
peer_row "fathom train" train plain
peer_row "uftrace record -P ." uftrace sleds
peer_row "gcc -pg, no paths" plain gprof
peer_row "-finstrument-functions" hooks hooks
