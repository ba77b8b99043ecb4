# What the tests with programs of tests/probe/cases share: building them, and their calls.
# shellcheck shell=sh disable=SC2154

sources=$top_srcdir/tests/probe/cases

# expect NAME: the calls on standard input, "TIMES PATH" a line.
expect() { sort -k 2 >"$1.expected"; }

# compile DIRECTORY COMPILER C++-COMPILER FLAG...: all programs.
compile()
{
    at=$1 cc=$2 cxx=$3
    shift 3
    mkdir "$at" &&
        set -- "$@" -g -D_GNU_SOURCE -I"$top_srcdir" -Wall -Wextra -Werror &&
        $cc "$@" -c -o "$at/cases.o" "$sources/cases.c" &&
        $cc "$@" -shared -fPIC -o "$at/case_plugin.so" "$sources/case_plugin.c" &&
        for program in flow processes threads signals opens; do
            $cc "$@" -rdynamic -pthread -o "$at/case_$program" "$sources/case_$program.c" "$at/cases.o" || return
        done
    status=$?
    if [ $status = 0 ] && command -v "$cxx" >/dev/null; then
        $cxx "$@" -rdynamic -pthread -o "$at/case_throws" "$sources/case_throws.cc" "$at/cases.o" || return
    fi
    return $status
}

# build_cases COMPILER-OPTIMISATION: builds all in a directory of this name; 1: there is no such compiler.
build_cases()
{
    compiler=${1%%-*}
    if ! command -v "$compiler" >/dev/null; then
        skip "$1" "$compiler is not installed"
        return 1
    fi
    case $compiler in
    gcc) cxx=g++ ;;
    *) cxx=$compiler++ ;;
    esac
    check "$1: build" compile "$1" "$compiler" "$cxx" "-${1#*-}"
}

# calls_of MAP: "TIMES PATH" for each path from main or another first function on; without what the compiler, the
# C library and the witness add.
calls_of()
{
    "$FATHOM" map paths "$1" | awk '
        FNR == 1 { next }
        { path = $4; for (i = 5; i <= NF; i++) path = path " " $i; sub(/^_start;/, "", path) }
        path ~ /(^|;)(_start|_init|_fini|frame_dummy|(de)?register_tm_clones|__do_global_dtors_aux|witness|atexit)/ ||
            path ~ /_GLOBAL__|__cxx_global|std::|@plt$/ { next }
        { times[path] += $1 }
        END { for (path in times) print times[path], path }' | sort -k 2
}

# train_case STATUS PROGRAM CASE [ARGUMENT]: trains map.fmap; the file calls has its calls. $via: the way.
train_case()
{
    want=$1 name=$3${4:+ $4}
    program=./$build/$2
    shift 2
    if ! exits "$want" "$build: $name" \
        "$FATHOM" train --via "${via:-patch}" --image case_ -o map.fmap -- "$program" "$@"; then
        return 1
    fi
    calls_of map.fmap >calls
}

# has_calls EXPECTED STATUS PROGRAM CASE [ARGUMENT]
has_calls()
{
    expected=$1
    shift
    train_case "$@" || return
    check "$build: $name: its calls and no other" diff -u "$expected.expected" calls
    same_heights
}

# same_heights: each path that the witness printed is in the map, as far below its first function as it says.
same_heights()
{
    grep -Eq '^(witness|base) ' out || return
    "$FATHOM" map paths map.fmap >paths
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
