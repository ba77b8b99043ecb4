# What the tests with programs of tests/probe/cases share: building them, and their calls.
# shellcheck shell=sh disable=SC2154

sources=$top_srcdir/tests/probe/cases

# compile DIRECTORY COMPILER C++-COMPILER FLAG...: all programs. The flags are for compiling alone, but -no-pie.
compile()
{
    at=$1 cc=$2 cxx=$3 link="-rdynamic -pthread" plugin=plugin
    shift 3
    case $* in
    *-no-pie*) link="$link -no-pie" plugin= ;;
    esac
    set -- "$@" -g -D_GNU_SOURCE -I"$top_srcdir" -Wall -Wextra -Werror -c
    mkdir "$at" && $cc "$@" -o "$at/cases.o" "$sources/cases.c" || return
    # shellcheck disable=SC2086 # a list
    for program in flow processes threads signals opens; do
        $cc "$@" -o "$at/$program.o" "$sources/case_$program.c" &&
            $cc $link -o "$at/case_$program" "$at/$program.o" "$at/cases.o" || return
    done
    [ -z "$plugin" ] || {
        $cc "$@" -fPIC -o "$at/plugin.o" "$sources/case_plugin.c" &&
            $cc -shared -o "$at/case_plugin.so" "$at/plugin.o" || return
    }
    # shellcheck disable=SC2086 # a list
    ! command -v "$cxx" >/dev/null || {
        $cxx "$@" -o "$at/throws.o" "$sources/case_throws.cc" &&
            $cxx $link -o "$at/case_throws" "$at/throws.o" "$at/cases.o"
    }
}

# build_cases NAME [FLAG...]: builds all in a directory of that name, which is COMPILER-OPTIMISATION and what one
# likes; 1: there is no such compiler.
build_cases()
{
    into=$1 compiler=${1%%-*} optimisation=$(echo "$1" | cut -d - -f 2)
    shift
    if ! command -v "$compiler" >/dev/null; then
        skip "$into" "$compiler is not installed"
        return 1
    fi
    case $compiler in
    gcc) cxx=g++ ;;
    *) cxx=$compiler++ ;;
    esac
    check "$into: build" compile "$into" "$compiler" "$cxx" "-$optimisation" "$@"
}

# calls_of MAP: "TIMES PATH" for each path from main or another first function on; without what the compiler, the
# C library and the witness add.
calls_of()
{
    "$FATHOM" map paths --hooked "$1" | awk '
        FNR == 1 { next }
        { path = $4; for (i = 5; i <= NF; i++) path = path " " $i; sub(/^_start;/, "", path) }
        path ~ /(^|;)(_start|_init|_fini|frame_dummy|(de)?register_tm_clones|__do_global_dtors_aux|witness|atexit)/ ||
            path ~ /_GLOBAL__|__cxx_global|std::|@plt$/ { next }
        { times[path] += $2 }
        END { for (path in times) print times[path], path }' | sort -k 2
}

# train_case STATUS PROGRAM CASE [ARGUMENT]: trains map.fmap; the file calls has its calls. $via: the way.
train_case()
{
    want=$1 name=$3${4:+ $4}
    program=./$build/$2
    shift 2
    if ! exits "$want" "$build: $name" \
        "$FATHOM" train --via "${via:-patch}" --samples 0 --image case_ -o map.fmap -- "$program" "$@"; then
        return 1
    fi
    calls_of map.fmap >calls
}

# has_calls EXPECTED STATUS PROGRAM CASE [ARGUMENT]: those of EXPECTED.expected; both by way of the filter $seen, if
# set.
has_calls()
{
    ${seen:-cat} "$1.expected" >expected
    shift
    train_case "$@" || return
    ${seen:-cat} calls >calls.seen
    check "$build: $name: its calls and no other" diff -u expected calls.seen
    same_heights
}

# Calls without those of functions that are written in assembly.
compiled_ones()
{
    awk '
        $2 ~ /(into_entry|too_short|behind|spins|keep_vector|trapped)$/ { next }
        { gsub(/;(into_entry|too_short|behind|spins|trapped|keep_vector)/, "", $2); times[$2] += $1 }
        END { for (path in times) print times[path], path }' "$1" | sort -k 2
}

# same_heights: each path that the witness printed is in the map, as far below its first function as it says.
same_heights()
{
    grep -Eq '^(witness|base) ' out || return
    "$FATHOM" map paths --hooked map.fmap >paths
    check "$build: $name: the unwinder's heights" awk '
        FILENAME == "paths" {
            sub(/^_start;/, "", $4)
            height[++count] = $3
            path[count] = $4
            if ($4 !~ /;/)
                starts[$4] = starts[$4] " " $3
            next
        }
        # A function at that height; "?" is any name.
        function is_there(wanted, at,    i) {
            gsub(/[?]/, "[^;]*", wanted)
            for (i = 1; i <= count; i++)
                if (height[i] == at && path[i] ~ ("^" wanted "$"))
                    return 1
            return 0
        }
        $1 == "base" && !is_there("main", $2) { print "main is not at " $2; bad = 1 }
        $1 == "witness" {
            first = $3
            sub(/;.*/, "", first)
            n = split(starts[first], start, " ")
            for (found = i = 0; !found && i++ < n;)
                found = is_there($3, start[i] + $2)
            if (!found) { print $3 " is not " $2 " below " first; bad = 1 }
        }
        END { exit bad }' paths out
}
