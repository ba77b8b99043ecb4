# The programs and inputs that the accuracy of paths is measured on: to be read (".") after rows.sh and sources.sh.
# shellcheck shell=sh
place=plain # directory of the programs; those that it does not have are Debian's

# of_place PROGRAM: the file that is run.
of_place()
{
    if [ -e "$place/$1" ]; then echo "$place/$1"; else echo "$1"; fi
}

# run SUBJECT INPUT [PREFIX...]: the program on its input "measured", on "other", which is of the same kind
# (perl's is not), on a "foreign" one, which is not, or on a "small" one, behind the prefix.
run()
{
    what=$1-$2 program=$(of_place "$1")
    shift 2
    case $what in
    bzip2-measured) set -- "$@" "$program" -kc text ;;
    bzip2-other) set -- "$@" "$program" -kc sqlite/sqlite3.c ;;
    lua5.4-measured) set -- "$@" "$program" words.lua 120 ;;
    lua5.4-other) set -- "$@" "$program" words.lua 70 2023 ;;
    sqlite3-measured) shop "$program" 250000 12345 "$@" && return ;;
    sqlite3-other) shop "$program" 90000 2023 "$@" && return ;;
    perl-measured) set -- "$@" "$program" log.pl 200000 ;;
    lua5.4-foreign) set -- "$@" "$program" other.lua ;;
    perl-foreign) set -- "$@" "$program" hashes.pl 100000 2023 ;;
    sqlite3-foreign) set -- "$@" "$program" -init /dev/null :memory: '.read other.sql' ;;
    bzip2-small) set -- "$@" "$program" -kc shop.sql ;;
    lua5.4-small) set -- "$@" "$program" words.lua 3 ;;
    sqlite3-small) shop "$program" 4000 12345 "$@" && return ;;
    perl-small) set -- "$@" "$program" log.pl 4000 ;;
    python3-small) set -- "$@" "$program" stock.py 500 ;;
    cc1-small) set -- "$@" "$program" -quiet -O1 unit.i -o unit.s ;;
    perl-other) set -- "$@" "$program" hashes.pl 100000 2023 ;;
    python3-measured) set -- "$@" "$program" stock.py ;;
    cc1-measured) set -- "$@" "$program" -quiet -O2 unit.i -o unit.s ;;
    speedtest1-measured) set -- "$@" "$program" --memdb --size 70 --testset main ;;
    speedtest1-cte | speedtest1-orm) set -- "$@" "$program" --memdb --size 40 --testset "${what#*-}" ;;
    gnugo-measured) set -- "$@" "$program" --mode gtp --seed 1 --gtp-input measured.gtp ;;
    gnugo-other) set -- "$@" "$program" --mode gtp --seed 1 --gtp-input other.gtp ;;
    esac
    "$@" </dev/null
}

# shop PROGRAM ORDERS SEED [PREFIX...]: sqlite3 on tests/workloads/shop.sql.
shop()
{
    program=$1 orders=$2 seed=$3
    shift 3
    "$@" "$program" -init /dev/null -cmd ".parameter set @n $orders" -cmd ".parameter set @seed $seed" \
        :memory: '.read shop.sql' </dev/null
}

# Inputs and programs stand in the current directory, so that commands are short.
prepare()
{
    ln -s "$source"/tests/workloads/* "$source"/bench/other.* "$programs"/plain "$programs"/sqlite .
    awk -v size=20000000 -f "$source"/bench/text.awk >text
    [ ! -e "$programs"/games ] || ln -s "$programs"/games .
    printf 'loadsgf games/arion.sgf 60\nreg_genmove black\nquit\n' >measured.gtp
    printf 'loadsgf games/kisei28_g7.sgf 100\nreg_genmove black\nquit\n' >other.gtp
}

# weight KEY FILE: of "KEY": {"paths": N, "weight": N} in the JSON of evaluate.
weight() { sed -n "s/^ \"$1\": {\"paths\": [0-9]*, \"weight\": \([0-9]*\)}.*/\1/p" "$2"; }
# number KEY FILE: of "KEY": N.
number() { sed -n "s/^[ {]\"$1\": \([0-9.]*\),*$/\1/p" "$2"; }
