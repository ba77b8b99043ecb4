# What the tests of random programs share: to be read (".") after tests/e2e/lib.sh.
#
# RANDOM_PROGRAMS of them, from number RANDOM_FIRST (default 1) on, all cores at work. The number says all of a program:
# seed, language, compiler and flags.
# shellcheck shell=sh disable=SC2034
generate=$top_builddir/tests/random/generate
first=${RANDOM_FIRST:-1}

compilers="gcc g++"
command -v clang >/dev/null && compilers="$compilers clang clang++"

# Sets $language, $compiler and $flags of program $1.
choose()
{
    # shellcheck disable=SC2046,SC2086 # lists of words
    set -- "$1" $compilers
    pairs=$((($# - 1) / 2))
    [ $(($1 / 2 / pairs % 2)) = 0 ] && flags=-O2 || flags=-O0
    case $(($1 / 4 / pairs % 8)) in
    1) flags="$flags -fno-omit-frame-pointer" ;;
    3) flags="$flags -fcf-protection" ;;
    5) [ "$flags" = -O0 ] || flags=-O3 ;;
    7) [ "$flags" = -O0 ] || flags=-Os ;;
    esac
    pair=$(($1 / 2 % pairs)) language=c
    [ $(($1 % 2)) = 0 ] || language=c++
    shift $((1 + 2 * pair))
    compiler=$1
    [ $language = c ] || compiler=$2
}

# make_program NUMBER [FLAG...]: random-NUMBER, in the current directory.
make_program()
{
    choose "$1"
    number=$1
    shift
    "$generate" "$number" $language >program.$language
    # shellcheck disable=SC2086 # a list of words
    $compiler -w -g0 $flags "$@" -I"$top_srcdir/tests/random" -x $language -o random-"$number" program.$language \
        -pthread 2>&1 || {
        echo "it cannot be built"
        return 1
    }
}

# try_all DEFAULT TRY: for each of DEFAULT programs, or RANDOM_PROGRAMS, "TRY NUMBER" in a directory of its own, in which
# the program was made. A program is right if that says nothing.
try_all()
{
    last=$((first + ${RANDOM_PROGRAMS:-$1} - 1)) try=$2 jobs=$(nproc)
    for job in $(seq "$jobs"); do
        for number in $(seq $((first + job - 1)) "$jobs" "$last"); do
            mkdir "$number" && (cd "$number" && make_program "$number" && "$try" "$number") >"$number".said
            rm -rf "$number"
        done &
        background="$background $!"
    done
    wait
    background=
    for number in $(seq "$first" "$last"); do
        choose "$number"
        if [ -f "$number".said ] && [ ! -s "$number".said ]; then
            ok "$number: $compiler $flags"
        else
            not_ok "$number: $compiler $flags"
            head -n 30 "$number".said | note
        fi
    done
}
