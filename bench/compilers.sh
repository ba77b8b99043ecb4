#!/bin/sh
# Prints whether programs get faster by the profiles that `fathom report` writes for clang.
#
# compilers.sh FATHOM SOURCE PROGRAMS [ROUNDS]: PROGRAMS is a directory in which programs built for the benchmarks are kept. Each is recorded on one input
# and timed on another: CPU time over that of a build without a profile, of builds with one from the samples' own lines alone ("flat"), with autofdo and csspgo, and with
# one from a build that counts ("counted"); with the order of basic blocks of propeller ("blocks"), and with that of functions, too ("ordered"). Needs clang, lld, llvm, dpkg-dev, tcl and python3.
set -eu
fathom=$1 source=$2 programs=$3 rounds=${4:-20}
. "$source"/bench/rows.sh
. "$source"/bench/sources.sh
. "$source"/bench/inputs.sh
CC=clang
built "$programs" sources plain
cd "$directory"
prepare
for sources in "$programs"/*/; do
    [ -e "$(basename "$sources")" ] || ln -s "$sources" .
done

# one_of SUBJECT VARIANT FLAGS...: VARIANT/SUBJECT.
one_of()
{
    one=$1 variant=$2
    shift 2
    compile_one "$one" "$variant" -gline-tables-only -fdebug-info-for-profiling "$@"
}

cat >again <<'END'
#!/bin/sh
# again TIMES SUBJECT INPUT VARIANT
. "$SOURCE"/bench/inputs.sh
times=$1 subject=$2 input=$3
place=$4
while [ $((times -= 1)) -ge 0 ]; do run "$subject" "$input"; done
END
chmod +x again
export SOURCE="$source"

for subject in sqlite3 lua5.4; do
    one_of $subject base
    one_of $subject counting -fprofile-generate
    LLVM_PROFILE_FILE=raw ./again 1 $subject measured counting >/dev/null
    llvm-profdata merge -o counts raw
    one_of $subject counted -fprofile-use=counts
    "$fathom" record -q -F 4000 -o data -- ./again 5 $subject measured base >/dev/null
    for kind in autofdo csspgo; do
        "$fathom" report -q -i data --format $kind --image "^$subject\$" -o $kind.prof
    done
    "$fathom" script -q -i data -F address --image "^$subject\$" |
        python3 "$source"/bench/flat_profile.py base/$subject >flat.prof
    for kind in flat autofdo csspgo; do one_of $subject $kind -fprofile-sample-use=$kind.prof; done
    one_of $subject labelled -ffunction-sections -fbasic-block-sections=labels
    "$fathom" record -q -F 4000 -o blocks.data -- ./again 5 $subject measured labelled >/dev/null
    for kind in propeller symbol-order; do
        "$fathom" report -q -i blocks.data --format $kind --image "^$subject\$" -o $kind.list
    done
    one_of $subject blocks -ffunction-sections -fbasic-block-sections=list=propeller.list
    one_of $subject ordered -ffunction-sections -fbasic-block-sections=list=propeller.list -fuse-ld=lld -Wl,--symbol-ordering-file=symbol-order.list
    say "$subject"
    python3 "$source"/bench/pairs.py "$rounds" "./again 1 $subject foreign" base flat autofdo csspgo counted blocks ordered
done
