#!/bin/sh
# alloc.sh BUILD [PAIRS]: what sampling allocations costs a program that makes two million of them, a million in half a second or so of its CPU time: with the
# runtime loaded, with `record --alloc`, while it is attached to, and under heaptrack, if that is there; the least CPU time of so many runs of each, in turn. Needs root.
set -e
build=$(realpath "$1")
pairs=${2:-20}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
cat >rate.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((noinline)) static void work(int n)
{
    for (volatile int i = 0; i < n; i++)
        ;
}
int main(int argc, char **argv)
{
    void *last[64] = {0};
    (void)argv;
    if (argc > 1) /* until the recorder looks */
        getchar();
    const double began = cpu();
    for (unsigned i = 0; i < 2000000; i++) {
        free(last[i % 64]);
        last[i % 64] = malloc(16 + i * 37 % 500);
        work(800);
    }
    fprintf(stderr, "%.4f\n", cpu() - began);
    return 0;
}
EOF
${CC:-cc} -O2 -o rate rate.c
if [ -n "$(command -v heaptrack)" ]; then heaptrack=yes; else heaptrack=; fi
for _ in $(seq "$pairs"); do
    ./rate 2>>alone
    LD_PRELOAD=$build/.libs/libfathom-heap.so ./rate 2>>loaded
    "$build/fathom" record -q --alloc -o rate.data -- ./rate 2>>recorded
    mkfifo go
    ./rate wait <go 2>>attached &
    exec 3>go
    "$build/fathom" record -q --alloc -p $! -o rate.data &
    sleep 2
    echo >&3
    exec 3>&-
    wait
    rm go
    [ -z "$heaptrack" ] || heaptrack -o tracked ./rate 2>&1 | grep -E '^[0-9.]+$' >>heaptrack || :
done
for way in alone loaded recorded attached ${heaptrack:+heaptrack}; do
    sort -n $way | head -n 1 | awk -v way=$way -v alone="$(sort -n alone | head -n 1)" '{ printf "%-10s %.3f s  %+.1f%%\n", way, $1, ($1 / alone - 1) * 100 }'
done
