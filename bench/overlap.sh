#!/bin/sh
# overlap.sh BUILD [PROGRAM...]: how much the hot streams of sampled bursts are those of the full trace, as figures 7 and 8 of Hirzel and Chilimbi
# (FDDO-4 2001): overlap in per cent, and in brackets that of as many bursts by chance (bench/overlap.c). Figure 7: by nCheck0:nInstr0, with the
# checks that are meant to be used. Figure 8: by which checks there are, at 1000:50, each against the full trace of the same file, as addresses
# differ. In the environment OPTIONS are those of bench/overlap, FIGURES the figures that are made (7, 8), RATES those of figure 7.
# Takes an hour for all programs, and 2 GB of
# /dev/shm; programs with -long at their ends are the same ones with more to do.
set -e
[ "$FIXED" ] || FIXED=1 exec setarch -R sh "$0" "$@" # each run has the same addresses
build=$(realpath "$1")
shift
source=$(realpath "$(dirname "$0")/..")
runtime=$build/.libs/libfathom-burst.so
rates=${RATES:-20:1 100:1 200:1 200:10 1000:10 2000:10 1000:50 5000:50 10000:50}
variants="orig/all/0 EL/callers/0 EC/cycles/0 EN/none/0 L4/all/4 L10/all/10 LN/all/none EC+L4/cycles/4"
here=$(mktemp -d /dev/shm/overlap.XXXXXX)
trap 'rm -rf "$here"' EXIT
cd "$here"
ln -s "$source"/tests/workloads/* "$source"/bench/other.lua "$source"/bench/text.awk .
awk -v size=2000000 -f "$source"/bench/text.awk >long
head -c 300000 long >text
gcc -E -I"$build" -I"$source" -D_GNU_SOURCE "$source"/base/hash.c >unit.i
gcc -E -I"$build" -I"$source" -D_GNU_SOURCE "$source"/image/cfi/cfi.c >long.i

library() { realpath "$(/sbin/ldconfig -p | sed -n "s/.*$1.*x86-64.* => //p" | head -n 1)"; }

# file_of PROGRAM: what is duplicated.
file_of()
{
    case $1 in
    lua*) realpath /usr/bin/lua5.4 ;;
    bzip2*) library libbz2.so.1.0 ;;
    sqlite3) library libsqlite3.so.0 ;;
    perl | python3* | mawk | gzip) realpath "/usr/bin/${1%-long}" ;;
    cc1*) realpath "$(gcc -print-prog-name=cc1)" ;;
    esac
}

# run PROGRAM: with the duplicated file of it, which is `made`.
run()
{
    case $1 in
    lua) ./made words.lua 3 ;;
    lua-other) ./made other.lua 40000 ;;
    bzip2) LD_LIBRARY_PATH=. bzip2 -kc text ;;
    bzip2-long) LD_LIBRARY_PATH=. bzip2 -kc long ;;
    sqlite3) LD_LIBRARY_PATH=. sqlite3 -init /dev/null -cmd ".parameter set @n 5000" -cmd ".parameter set @seed 12345" :memory: '.read shop.sql' ;;
    perl) ./made log.pl 2000 ;;
    python3) PYTHONHASHSEED=0 ./made stock.py 500 ;;
    python3-long) PYTHONHASHSEED=0 ./made stock.py 5000 ;;
    mawk) ./made -v size=1000000 -f text.awk ;;
    gzip) ./made -c text ;;
    cc1) ./made -quiet -O1 unit.i -o unit.s ;;
    cc1-long) ./made -quiet -O2 long.i -o unit.s ;;
    esac
}

# trace PROGRAM RATE FILE
trace()
{
    mkdir traces
    export FATHOM_TRACE="$2:8000000000:$here/traces" LD_PRELOAD="$runtime"
    run "$1" >/dev/null 2>&1 </dev/null
    unset FATHOM_TRACE LD_PRELOAD
    mv traces/*-0.burst "$3" # one process of one thread
    rm -rf traces
}

# make PROGRAM ENTRIES BORING
make()
{
    rm -f made libbz2.so.1.0 libsqlite3.so.0
    "$build"/tests/rewrite/duplicate "$(file_of "$1")" made "$2" "$3" >/dev/null
    chmod +x made
    ln -s made libbz2.so.1.0
    ln -s made libsqlite3.so.0
}

# compare SAMPLED...: "| 79.8 (82.1) " for each.
compare()
{
    # shellcheck disable=SC2086 # some options
    "$build"/bench/overlap $OPTIONS full "$@" | awk '
        /^full/ { references = $3 }
        /^overlap/ { sub(/;/, "", $4); row = row sprintf("| %.1f (%.1f) ", $2 * 100, $7 * 100); most = $4 }
        END { printf "| %.1f | %.1f %s", references / 1e6, most * 100, row }'
}

# shellcheck disable=SC2086 # lists
figure7()
{
    printf '| program | references, million | attainable |'
    printf ' %s |' $rates
    printf '\n|---|---|---|'
    printf -- '---|%.0s' $rates
    for program in $programs; do
        make "$program" cycles 4
        trace "$program" 0:1 full
        for rate in $rates; do trace "$program" "$rate" "$rate"; done
        printf '\n| %s %s|' "$program" "$(compare $rates)"
        rm -f full ./*:*
    done
    echo
}

# shellcheck disable=SC2086 # lists
figure8()
{
    printf '\n| program |'
    printf ' %s |' $variants | sed 's,/[^ ]*,,g'
    printf '\n|---|'
    printf -- '---|%.0s' $variants
    for program in $programs; do
        printf '\n| %s ' "$program"
        for variant in $variants; do
            checks=${variant#*/}
            make "$program" "${checks%/*}" "${checks#*/}"
            trace "$program" 0:1 full
            trace "$program" 1000:50 sampled
            compare sampled | cut -d '|' -f 4 | tr '\n' ' ' | sed 's/^/|/'
        done
        printf '|'
    done
    echo
}

programs=${*:-lua lua-other sqlite3 perl python3 mawk gzip bzip2 cc1}
for figure in ${FIGURES:-7 8}; do figure"$figure"; done
