#!/bin/sh
# latency.sh BUILD [RUNS]: what `record --latency` costs a program for each call of a function that begins with a push, as most do, beside events at its entry and its
# return; the least CPU time of so many runs of each, in turn, per call; and how long a call that does nothing is told to take. Needs root.
set -e
build=$(realpath "$1")
runs=${2:-10}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
cat >calls.c <<'EOF'
#include <stdio.h>
#include <time.h>
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((noinline)) void called(void)
{
    __asm__ volatile("" : : : "rbx");
}
int main(void)
{
    const double began = cpu();
    for (int i = 0; i < 100000; i++)
        called();
    fprintf(stderr, "%.3f\n", (cpu() - began) * 10);
    return 0;
}
EOF
${CC:-cc} -O2 -o calls calls.c
entry=uprobe:./calls:called return=uretprobe:./calls:called
for _ in $(seq "$runs"); do
    ./calls 2>>alone
    for way in entry return both latency; do
        case $way in
        entry) event=$entry ;;
        return) event=$return ;;
        both) event=$entry,$return ;;
        latency) event=latency:./calls:called ;;
        esac
        "$build/fathom" record -q -e $event -o $way.data -- ./calls 2>>$way
    done
done
for way in alone entry return both latency; do
    printf '%-8s %s us a call\n' $way "$(grep -E '^[0-9.]+$' $way | sort -n | head -n 1)"
done
"$build/fathom" report -i latency.data | grep '^time:'
