#!/bin/sh
# Prints what frame sizes that tell paths apart reach: "make bench-disambig" runs it.
#
# disambig.sh FATHOM SOURCE PROGRAMS [FIGURE...]: PROGRAMS is a directory in which programs built for the benchmarks
# are kept. FIGURE is one of these, all of them when none is named:
#
#   precise  the share of the map that is precise before and after
#   right    the share of samples on the right path, of which no stack is read: mean of some recordings
#   cost     CPU time and instructions of the patched program, relative to the original
#
# gnugo has 2.4 million paths, more than there are heights: its stack may grow to 4 times.
#
# In the environment: METHOD, of `fathom disambig` (default "move"); CODE, how much copies may add (25, in percent); BUDGET, for the longest stack (15, in percent);
# SUBJECTS, programs of inputs.sh; INPUTS, for "right"; RUNS, recordings or pairs (5); KINDS of programs: "frames", built from Debian's
# sources by gcc -O2 -fno-omit-frame-pointer, "plain", by gcc -O2, and "debian", Debian's own.
# Needs dpkg-dev, tcl, perl and valgrind (scripts/setup bench).
set -eu
fathom=$1 source=$2 programs=$3
shift 3
runs=${RUNS:-5} method=${METHOD:-move} budget=${BUDGET:-15} code=${CODE:-25}
. "$source"/bench/rows.sh
. "$source"/bench/sources.sh
. "$source"/bench/inputs.sh
cd "$directory"
figures=${*:-precise right cost}

# debian SUBJECT: Debian's program in debian/.
debian()
{
    mkdir -p debian
    case $1 in
    cc1) program=$(${CC:-gcc} -print-prog-name=cc1) ;;
    *) program=$(PATH=$(command -p getconf PATH) && command -v "$1") ;;
    esac
    ln -sf "$(readlink -f "$program")" debian/"$1"
}

# target KIND SUBJECT: the file whose frames change: a library, if the program is a shell around it.
target()
{
    case $1-$2 in
    debian-sqlite3) ldd debian/sqlite3 | awk '$1 ~ /^libsqlite3/ { print $3 }' ;;
    debian-bzip2) ldd debian/bzip2 | awk '$1 ~ /^libbz2/ { print $3 }' ;;
    *) readlink -f "$1/$2" ;;
    esac
}

# The programs of this kind are run, or the patched ones.
use() { place=$1 LD_LIBRARY_PATH=; }
use_patched() { place=patched LD_LIBRARY_PATH=patched/lib; }
export LD_LIBRARY_PATH

# change KIND SUBJECT [BUDGET]: trains it (measured.fmap) and patches it (patched/, patched.fmap); what disambig says
# is left in "said". The patched program has to do what the original does.
change()
{
    kind=$1 subject=$2 file=
    [ "$kind" != debian ] || debian "$subject"
    use "$kind"
    rm -rf patched ./*.fmap
    mkdir -p patched/lib
    run "$subject" measured >expected
    run "$subject" measured "$fathom" train -q -o measured.fmap -- >/dev/null
    file=$(target "$kind" "$subject")
    output=patched/$subject
    case $file in
    *.so*)
        output=patched/lib/$(readelf -d "$file" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
        ln -s "$(readlink -f "$kind/$subject")" patched/"$subject"
        ;;
    esac
    symbolic=
    case $method-$file in *clone*.so*) symbolic=--symbolic ;; esac
    "$fathom" disambig -q -m measured.fmap --method "$method" --code "$code" $symbolic --budget "${3:-$budget}" -o "$output" -M patched.fmap \
        "$file" >said
    use_patched
    run "$subject" measured | cmp - expected
    use "$kind"
}

# said KEY PATTERN: of the line of disambig's report that begins with KEY.
said() { sed -n "s/^$1: *.*$2.*/\1/p" said; }

# ceiling METHOD: weight and paths, percent, if this were done without any limit.
ceiling() { "$fathom" ambiguity -m measured.fmap -n 0 | awk -v way="$1" '$1 == way { print $2 " and " $3 }'; }

# precise KIND SUBJECT: after change.
precise()
{
    limit=
    case $1-$2 in
    frames-gnugo) ;;
    frames-*) limit=">= 99.5" ;;
    esac
    row "disambig: $2 ($1), weight precise" "$(said precise '[^0-9.]\([0-9.]*\)% of the [cs]a[lm][a-z]*, ')" % "$limit" \
        "of $(said precise ', \([0-9.]*\)% before;'); resizing without a limit: $(ceiling resize)"
    row "disambig: $2 ($1), contexts precise" "$(said precise '; \([0-9.]*\)% of the contexts')" % ">= 95" \
        "of $(said precise 'contexts, \([0-9.]*\)% before')"
    times=$(awk -v more="$stack" 'BEGIN { print 1 + more / 100 }')
    row "disambig: $2 ($1), longest stack" "$(said stack ' \([0-9.]*\) times')" times "<= $times" \
        "$(said frames ' \([0-9]* of the [0-9]*\)') functions can grow, $(said frames '; \([0-9]*\) do')"
    row "disambig: $2 ($1), search" "$(said search ', \([0-9.]*\) s')" s
    "${fathom%/*}"/bench/bench_heights measured.fmap "$times" "$(target "$1" "$2")" >bounds
    while IFS="$(printf '\t')" read -r name value unit limit more; do
        row "disambig: $2 ($1), $name" "$value" "$unit" "$limit" "$more"
    done <bounds
}

# recorded INPUT MAP: one line, percent: on the right path, and on paths that the map does not have (of which no stack
# is read).
recorded()
{
    run "$subject" "$1" "$fathom" evaluate -q --audit 0 ${HZ:+-F "$HZ"} -o data -m "$2" -- >/dev/null
    "$fathom" evaluate -q --audit 0 --format json -i data -m "$2" >json
    "$fathom" evaluate -q --audit 0 --no-automaton --no-temporal --format json -i data -m "$2" >alone
    echo "$(weight right json) $(weight all json) $(weight incorrect alone) $(weight missing alone)" |
        awk '{ print 100 * $1 / $2, 100 * ($3 + $4) / $2 }'
}

# right KIND SUBJECT: after change. gnugo's other input is another game, of which next to nothing is in the map.
right()
{
    case $2 in
    lua5.4 | sqlite3) inputs="measured other foreign" ;;
    perl) inputs="measured foreign" ;;
    *) inputs=measured ;;
    esac
    for input in ${INPUTS:-$inputs}; do
        right_on "$1" "$2" "$input"
    done
}

# right_on KIND SUBJECT INPUT
right_on()
{
    for state in before after; do
        map=measured.fmap
        use "$1"
        [ $state = before ] || { use_patched; map=patched.fmap; }
        : >all
        number=0
        while [ $((number += 1)) -le "$runs" ]; do
            recorded "$3" $map >>all
        done
        limit=
        case $state-$2 in after-gnugo) limit=">= 95" ;; after-*) limit=">= 99.5" ;; esac
        row "disambig: $2 ($1), $3 input, right $state" "$(mean 1)" % "$limit" \
            "$(range 1); on paths that training did not see $(mean 2) ($(range 2))"
    done
    use "$1"
}
mean() { awk -v c="$1" '{ sum += $c } END { printf "%.2f", sum / NR }' all; }
range() { awk -v c="$1" '{ print $c }' all | sort -n | awk 'NR == 1 { low = $1 } END { printf "%.2f to %.2f", low, $1 }'; }

# cpu INPUT: of the program that is used, ms.
cpu()
{
    run "$subject" "$1" perf stat -x ' ' -e task-clock -o cpu.txt -- >/dev/null
    awk '/task-clock/ { print $1 }' cpu.txt
}

# instructions INPUT: of the program that is used.
instructions()
{
    run "$subject" "$1" valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=counts --log-file=log -- >/dev/null
    sed -n 's/^summary: //p' counts
}

# cost KIND SUBJECT: after change.
cost()
{
    : >all
    number=0
    while [ $((number += 1)) -le "$runs" ]; do
        use "$1"
        before=$(cpu measured)
        use_patched
        after=$(cpu measured)
        second=$(cpu measured)
        use "$1"
        echo "$before $after $second $(cpu measured)" | awk '{ print $2 / $1; print $3 / $4 }' >>all
    done
    row "disambig: $2 ($1), CPU time" "$(medians all | awk '{ printf "%.3f", $1 }')" times "<= 1.01" "pairs $(range 1)"
    before=$(instructions small)
    use_patched
    after=$(instructions small)
    use "$1"
    row "disambig: $2 ($1), instructions" "$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.5f", a / b }')" times "" \
        "$after of $before"
}

# applies FIGURE KIND SUBJECT: whether the figure is taken of this program of this kind.
applies()
{
    case $1-$2-$3 in
    *-gnugo) case $1-$2 in precise-frames | right-frames) ;; *) return 1 ;; esac ;;
    *-debian-*) [ "$1" != right ] || case $3 in python3 | cc1) return 1 ;; esac ;;
    *-perl | *-python3 | *-cc1) return 1 ;;
    cost-*) return 1 ;;
    esac
}

# measure KIND SUBJECT: all figures that apply.
measure()
{
    changed=
    for figure in $figures; do
        applies "$figure" "$1" "$2" || continue
        if [ -z "$changed" ]; then
            HZ='' stack=$budget
            [ "$2" != gnugo ] || HZ=10000 stack=300
            change "$1" "$2" "$stack"
            changed=1
        fi
        "$figure" "$1" "$2"
    done
}

wanted=${SUBJECTS:-bzip2 lua5.4 sqlite3 perl python3 cc1 gnugo}
built "$programs" sources plain frames || exit 1
case " $wanted " in *" gnugo "*) built "$programs" gnugo gnugo_frames || exit 1 ;; esac
prepare
ln -s "$programs"/frames .
${CC:-gcc} -E -DLUA_COMPAT_5_3 "$programs"/lua5.4-*/src/lvm.c >unit.i
row figure measured unit limit "other figures"
row "disambig: load at its start" "$(cut -d ' ' -f 1 /proc/loadavg)" processes "" "on $(nproc) cores; --method $method"
for kind in ${KINDS:-frames plain debian}; do
    for subject in $wanted; do
        measure "$kind" "$subject"
    done
done
