/*
 * bench_probe.c - what an entry costs under the probe runtime.
 *
 * Functions are called through trampolines as the runtime makes them for a detour: the difference to the same
 * calls without is the cost of the hook. Best of several rounds, as other programs disturb.
 *
 *     bench_probe [NODES]     NODES: distinct paths of the last case, 10 million when not given
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pathmap/probe/core.h"
#include "pathmap/probe/state.h"

#define ROUNDS 40

void leaf_a(void), leaf_b(void), leaf_c(void), leaf_a_hooked(void), leaf_b_hooked(void), leaf_c_hooked(void);
unsigned fib(unsigned n), fib_hooked(unsigned n), fib_plain(unsigned n);
void run(uint64_t nodes), run_hooked(uint64_t nodes);
void tree(uint64_t way, unsigned depth), tree_hooked(uint64_t way, unsigned depth);

/* NAME_hooked: an entry that was patched to a jump, its trampoline, and the function. */
#define HOOK(name, id)                                                                                       \
    __asm__(".text\n.p2align 4\n" #name "_hooked:\n jmp 1f\n .p2align 4\n"                                   \
            "1: push $" #id "\n call *hook_slot(%rip)\n lea 8(%rsp), %rsp\n jmp " #name "\n")

__asm__(".data\n.p2align 3\nhook_slot: .quad probe_entry\n.text\n");

#define KEEP __attribute__((noinline, used))

static unsigned volatile sink;

KEEP void leaf_a(void)
{
    __asm__ volatile("");
}
KEEP void leaf_b(void)
{
    __asm__ volatile("");
}
KEEP void leaf_c(void)
{
    __asm__ volatile("");
}
HOOK(leaf_a, 1);
HOOK(leaf_b, 2);
HOOK(leaf_c, 3);

static void loop(unsigned n, void (*a)(void), void (*b)(void), void (*c)(void))
{
    for (unsigned i = 0; i < n; i += 3) {
        a();
        b();
        c();
    }
}

KEEP unsigned fib(unsigned n)
{
    return n < 2 ? n : fib_hooked(n - 1) + fib_hooked(n - 2);
}
HOOK(fib, 4);

/* The same call by jump, so that it is neither inlined nor unrolled. */
__asm__(".text\n.p2align 4\nfib_jump: jmp fib_plain\n");
unsigned fib_jump(unsigned n);
KEEP unsigned fib_plain(unsigned n)
{
    return n < 2 ? n : fib_jump(n - 1) + fib_jump(n - 2);
}

/* Paths by the digits of a number: each level calls one of four. */
#define DEPTH 12
KEEP void tree(uint64_t way, unsigned depth)
{
    if (!depth)
        return;
    switch (way & 3) {
    case 0:
        tree_hooked(way >> 2, depth - 1);
        __asm__ volatile("nop");
        break;
    case 1:
        tree_hooked(way >> 2, depth - 1);
        __asm__ volatile("nop; nop");
        break;
    case 2:
        tree_hooked(way >> 2, depth - 1);
        __asm__ volatile("nop; nop; nop");
        break;
    default:
        tree_hooked(way >> 2, depth - 1);
        __asm__ volatile("nop; nop; nop; nop");
    }
}
HOOK(tree, 5);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_loops(void)
{
    enum { CALLS = 1500000 };
    double plain = 1e18, one = 1e18, three = 1e18;
    for (unsigned r = 0; r < ROUNDS; r++) {
        double t0 = now();
        loop(CALLS, leaf_a, leaf_a, leaf_a);
        double t1 = now();
        loop(CALLS, leaf_a_hooked, leaf_a_hooked, leaf_a_hooked);
        double t2 = now();
        loop(CALLS, leaf_a_hooked, leaf_b_hooked, leaf_c_hooked);
        double t3 = now();
        plain = least(plain, (t1 - t0) / CALLS);
        one = least(one, (t2 - t1) / CALLS);
        three = least(three, (t3 - t2) / CALLS);
    }
    printf("an entry, one leaf from three sites\t%.2f\tns\t8\n", one - plain);
    printf("an entry, three leaves in turn\t%.2f\tns\t8\n", three - plain);
}

static void bench_fib(void)
{
    enum { N = 25 };
    const double calls = 242785; /* 2 fib(26) - 1 */
    double plain = 1e18, hooked = 1e18;
    for (unsigned r = 0; r < ROUNDS; r++) {
        double t0 = now();
        sink += fib_plain(N);
        double t1 = now();
        sink += fib_hooked(N);
        double t2 = now();
        plain = least(plain, (t1 - t0) / calls);
        hooked = least(hooked, (t2 - t1) / calls);
    }
    printf("an entry, fib(25)\t%.2f\tns\t8\n", hooked - plain);
}

static void bench_tree(uint64_t nodes)
{
    uint64_t random = 88172645463325252, calls = 0, before = core.header->chunk_count;
    double t0 = now();
    while ((core.header->chunk_count - before) * STORE_CHUNK_NODES < nodes) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        tree_hooked(random, DEPTH);
        calls += DEPTH + 1;
    }
    double t1 = now();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double made = (double)(core.header->chunk_count - before) * STORE_CHUNK_NODES;
    printf("an entry, %.1f million random paths\t%.1f\tns\t\n", made / 1e6, (t1 - t0) / (double)calls);
    printf("a new path among them\t%.1f\tns\t\n", (t1 - t0) / made);
    printf("memory with them, all in all\t%ld\tMB\t4096\n", usage.ru_maxrss / 1024);
    printf("bytes of a node\t%zu\tbytes\t32\n", sizeof(struct store_node));
}

/* As `main` would be: the children of a stack's root are the outermost functions, and rare. */
void run(uint64_t nodes)
{
    bench_loops();
    bench_fib();
    bench_tree(nodes);
}
HOOK(run, 6);

int main(int count, char **arguments)
{
    uint64_t nodes = count > 1 ? strtoull(arguments[1], NULL, 10) : 10000000;
    const char *temporary = getenv("TMPDIR");
    char directory[256], command[300];
    snprintf(directory, sizeof directory, "%.200s/bench_probe.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return 1;
    int r = core_start(directory);
    if (r < 0) {
        fprintf(stderr, "bench_probe: core_start: %s\n", strerror(-r));
        return 1;
    }
    run_hooked(nodes);
    if (core.header->dropped || core.header->misplaced)
        fprintf(stderr, "bench_probe: paths were lost\n");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) != 0;
}
