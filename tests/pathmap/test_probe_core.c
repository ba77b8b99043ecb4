/*
 * Drives the probe runtime's core as trampolines do: functions with known calls, and the exact tree that the
 * store must hold afterwards.
 */
#include <alloca.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "pathmap/probe/core.h"
#include "tests/pathmap/hooked.h"
#include "tests/pathmap/probe_tree.h"
#include "tests/sanitized.h"

#define FUNCTIONS(X)                                                                                         \
    X(1, run)                                                                                                \
    X(2, a)                                                                                                  \
    X(3, b)                                                                                                  \
    X(4, c)                                                                                                  \
    X(5, many)                                                                                               \
    X(6, deep)                                                                                               \
    X(7, jumps)                                                                                              \
    X(8, handler) X(9, inner) X(10, co) X(11, start) X(12, grow) X(13, tail) X(14, twice) X(15, fan)

FUNCTIONS(TRAMPOLINE)
HOOK_SLOT(probe_entry)
FUNCTIONS(BOUNDS)
static const char *const names[] = {FUNCTIONS(NAME)};
#define NAME_COUNT (sizeof names / sizeof *names)

/* An image for each function: ids are in no order of address. */
static uint64_t bounds[][2] = {FUNCTIONS(BOUND)};

static char directory[64] = "/tmp/test_probe_core.XXXXXX";

static void begin(void)
{
    cr_assert(mkdtemp(directory));
    cr_assert_eq(core_start(directory), 0);
    for (uint32_t id = 1; id < NAME_COUNT; id++) {
        uint32_t image = core_image("/test", (const uint8_t *)"1234", 4, 0, bounds[id][0], bounds[id][1]);
        cr_assert_eq(core_functions(image, 1), id);
        core_function(id, image, bounds[id][0], 0);
    }
}

/* Without sizes, frames are told apart by their return addresses only. */
static void sizes(void)
{
    for (uint32_t id = 1; id < NAME_COUNT; id++)
        core_function(id, id - 1, bounds[id][0], (uint32_t)(bounds[id][1] - bounds[id][0]));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

static void expect_tree(int pid, uint32_t without, const char *expected)
{
    char *tree = probe_tree(probe_store(directory, pid), names, NAME_COUNT, without);
    cr_expect_str_eq(tree, expected, "got:\n%sexpected:\n%s", tree, expected);
    free(tree);
}

TestSuite(probe_core, .init = begin, .fini = end);

/* The workload: what run() does is chosen by a pointer, as its trampoline takes no arguments here. */
static void (*work)(void);
void run_hooked(void), a_hooked(void), b_hooked(void), c_hooked(void), jumps_hooked(void), inner_hooked(void);
void handler_hooked(int sig), co_hooked(void), tail_hooked(void), twice_hooked(void), fan_hooked(void);
int deep_hooked(int n);
void *start_hooked(void *argument);
int grow_hooked(int bytes);
long many_hooked(long p, long q, long r, long s, long t, long u, long v, long w, long x);
void run(void), a(void), b(void), c(void), jumps(void), inner(void), handler(int sig), co(void);
void tail(void), twice(void);
int deep(int n), grow(int bytes);
void *start(void *argument);
long many(long p, long q, long r, long s, long t, long u, long v, long w, long x);

HOOKED(run) void run(void)
{
    work();
    AFTER();
}
HOOKED(c) void c(void)
{
    AFTER();
}
HOOKED(b) void b(void)
{
    c_hooked();
    AFTER();
}
HOOKED(a) void a(void)
{
    b_hooked();
    for (int i = 0; i < 3; i++)
        c_hooked();
    AFTER();
}
HOOKED(many) long many(long p, long q, long r, long s, long t, long u, long v, long w, long x)
{
    c_hooked();
    AFTER();
    return p + q + r + s + t + u + v + w + x;
}
HOOKED(deep) int deep(int n)
{
    int r = n ? deep_hooked(n - 1) + 1 : 0;
    AFTER();
    return r;
}
HOOKED(inner) void inner(void)
{
    AFTER();
}

#define A_TREE(path, n1, n3)                                                                                 \
    path " a " n1 "\n" path " a b " n1 "\n" path " a b c " n1 "\n" path " a c " n3 "\n"

static void work_plain(void)
{
    a_hooked();
    a_hooked();
    b_hooked();
}

Test(probe_core, calls)
{
    work = work_plain;
    run_hooked();
    run_hooked();
    expect_tree(getpid(), 0, "run 2\n" A_TREE("run", "4", "12") "run b 2\nrun b c 2\n");
    struct store_header header = probe_header(probe_store(directory, getpid()));
    cr_expect_eq(header.dropped + header.dropped_depth + header.dropped_stack + header.misplaced, 0);
    cr_expect_eq(header.tree_count, 1);
}

/* Heights count from the SP that the kernel started the program with. */
struct height_of {
    uint32_t function, height, seen;
};

static void find_height(const struct store_node *nodes, const struct store_node *node, void *context)
{
    struct height_of *h = context;
    (void)nodes;
    if (node->function == h->function) {
        h->height = node->height;
        h->seen++;
    }
}

static uint64_t cfa_of_b;

static void work_height(void)
{
    cfa_of_b = (uint64_t)__builtin_frame_address(0);
    b_hooked();
    AFTER();
}

Test(probe_core, main_base)
{
    extern void *__libc_stack_end;
    work = work_height;
    run_hooked();
    struct height_of h = {.function = 3};
    probe_nodes_each(probe_store(directory, getpid()), find_height, &h);
    cr_expect_eq(h.seen, 1);
    uint64_t cfa = (uint64_t)__libc_stack_end - h.height;
    cr_expect(cfa <= cfa_of_b && cfa >= cfa_of_b - 256, "CFA of b %#lx, caller's frame %#lx", cfa, cfa_of_b);
}

/* A frame that has returned lies above the next one: arguments pushed, an even and an odd number of words. */
HOOKED(twice) void twice(void)
{
    c_hooked();
    many_hooked(1, 2, 3, 4, 5, 6, 7, 8, 9);
    c_hooked();
    AFTER();
}

HOOKED(grow) int grow(int bytes)
{
    c_hooked();
    char *p = alloca((size_t)bytes);
    __asm__ volatile("" : : "r"(p) : "memory");
    b_hooked();
    AFTER();
    return 0;
}

static void work_pushes(void)
{
    twice_hooked();
    grow_hooked(64);
    grow_hooked(4000);
}

Test(probe_core, frames_that_grow)
{
    sizes();
    work = work_pushes;
    for (int i = 0; i < 10; i++)
        run_hooked();
    expect_tree(
        getpid(), 0,
        "run 10\nrun grow 20\nrun grow b 20\nrun grow b c 20\nrun grow c 20\nrun twice 10\nrun twice c "
        "20\nrun twice many 10\nrun twice many c 10\n");
}

/* A callback through code that has no hooks, from the same depth as a call that has returned. */
static __attribute__((noinline)) void without_hook(void (*callback)(void))
{
    callback();
    AFTER();
}

static void work_callback(void)
{
    c_hooked();
    without_hook(inner_hooked);
    AFTER();
}

Test(probe_core, callbacks)
{
    work = work_callback;
    run_hooked();
    expect_tree(getpid(), 0, "run 1\nrun c 1\nrun inner 1\n");
}

__asm__(".section h_tail, \"ax\", @progbits\n.globl tail\ntail: jmp b_hooked\n.text\n");

static void work_tail(void)
{
    tail_hooked();
    tail_hooked();
    AFTER();
}

Test(probe_core, tail_calls)
{
    work = work_tail;
    run_hooked();
    expect_tree(getpid(), 0, "run 1\nrun b 2\nrun b c 2\nrun tail 2\n");
}

static void work_deep(void)
{
    for (volatile int i = 0; i < 3; i++)
        cr_assert_eq(deep_hooked(99999), 99999);
    b_hooked();
}

struct sums {
    uint64_t nodes, entries;
    uint32_t function;
};

static void sum_node(const struct store_node *nodes, const struct store_node *node, void *context)
{
    struct sums *sums = context;
    (void)nodes;
    if (node->function != sums->function)
        return;
    sums->nodes++;
    sums->entries += store_count(node);
}

Test(probe_core, depth)
{
    work = work_deep;
    run_hooked();
    struct sums sums = {.function = 6};
    probe_nodes_each(probe_store(directory, getpid()), sum_node, &sums);
    cr_expect_eq(sums.nodes, 100000);
    cr_expect_eq(sums.entries, 300000);
    sums = (struct sums){.function = 4}; /* only below b, called by run */
    probe_nodes_each(probe_store(directory, getpid()), sum_node, &sums);
    cr_expect_eq(sums.nodes, 1);
}

/* A node with thousands of children, each sought again after all the others: one call from each place. */
#define FAN        100000
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
__asm__(".section h_fan, \"ax\", @progbits\n.globl fan\nfan: sub $8, %rsp\n.rept " TEXT(
    FAN) "\ncall c_hooked\n.endr\n"
         "add $8, %rsp\nret\n.text\n");

static void work_fan(void)
{
    for (volatile int i = 0; i < 3; i++)
        fan_hooked();
    AFTER();
}

/* One call site, so that there is one path to fan(). */
static __attribute__((noinline)) void run_fan(void)
{
    run_hooked();
    AFTER();
}

static void expect_fan(int pid, uint64_t rounds)
{
    struct sums sums = {.function = 4};
    probe_nodes_each(probe_store(directory, pid), sum_node, &sums);
    cr_expect_eq(sums.nodes, FAN);
    cr_expect_eq(sums.entries, rounds * FAN);
    sums = (struct sums){.function = 15};
    probe_nodes_each(probe_store(directory, pid), sum_node, &sums);
    cr_expect_eq(sums.nodes, 1);
    cr_expect_eq(sums.entries, rounds);
}

Test(probe_core, many_children)
{
    work = work_fan;
    run_fan();
    pid_t other = fork();
    if (!other) {
        core_fork_child();
        run_fan();
        _exit(0);
    }
    int status;
    cr_assert_eq(waitpid(other, &status, 0), other);
    cr_expect_eq(status, 0);
    run_fan();
    expect_fan(getpid(), 6);
    expect_fan(other, 3);
}

static jmp_buf back;

HOOKED(jumps) void jumps(void)
{
    b_hooked();
    longjmp(back, 1);
}

static void work_jump(void)
{
    volatile int times = 0;
    if (setjmp(back) < 2 && times++ < 5)
        jumps_hooked();
    c_hooked();
}

Test(probe_core, longjmp)
{
    work = work_jump;
    run_hooked();
    expect_tree(getpid(), 0, "run 1\nrun c 1\nrun jumps 5\nrun jumps b 5\nrun jumps b c 5\n");
}

/* Registers and flags ------------------------------------------------------------------------------------ */

struct registers {
    uint64_t before[16], after[16]; /* rax rbx rcx rdx rsi rdi rbp r8..r15, flags */
};
void call_with_registers(struct registers *registers);
__asm__(".text\n"
        "call_with_registers:\n"
        " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n push %rdi\n"
        " mov 120(%rdi), %rax\n push %rax\n popf\n"
        " mov (%rdi), %rax\n mov 8(%rdi), %rbx\n mov 16(%rdi), %rcx\n mov 24(%rdi), %rdx\n"
        " mov 32(%rdi), %rsi\n mov 48(%rdi), %rbp\n mov 56(%rdi), %r8\n mov 64(%rdi), %r9\n"
        " mov 72(%rdi), %r10\n mov 80(%rdi), %r11\n mov 88(%rdi), %r12\n mov 96(%rdi), %r13\n"
        " mov 104(%rdi), %r14\n mov 112(%rdi), %r15\n mov 40(%rdi), %rdi\n"
        " call bare_hooked\n"
        " pushf\n push %rdi\n mov 16(%rsp), %rdi\n"
        " mov %rax, 128(%rdi)\n mov %rbx, 136(%rdi)\n mov %rcx, 144(%rdi)\n mov %rdx, 152(%rdi)\n"
        " mov %rsi, 160(%rdi)\n mov %rbp, 176(%rdi)\n mov %r8, 184(%rdi)\n mov %r9, 192(%rdi)\n"
        " mov %r10, 200(%rdi)\n mov %r11, 208(%rdi)\n mov %r12, 216(%rdi)\n mov %r13, 224(%rdi)\n"
        " mov %r14, 232(%rdi)\n mov %r15, 240(%rdi)\n pop %rax\n mov %rax, 168(%rdi)\n"
        " pop %rax\n mov %rax, 248(%rdi)\n"
        " pop %rdi\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
        "bare_hooked: push $2\n call *hook_slot(%rip)\n lea 8(%rsp), %rsp\n ret\n");

Test(probe_core, registers)
{
    static const uint64_t flags[] = {0x202, 0x203, 0x206, 0x212, 0x242, 0x282, 0xa02, 0xad7, 0xa97};
    struct registers r;
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        for (int i = 0; i < 15; i++)
            r.before[i] = 0x0123456789abcdefull * (uint64_t)(i + 3);
        r.before[15] = flags[f];
        call_with_registers(&r); /* the first time by the long way */
        for (int i = 0; i < 16; i++)
            cr_expect_eq(r.after[i], r.before[i], "flags %#lx, register %d: %#lx", flags[f], i, r.after[i]);
    }
    expect_tree(getpid(), 0, "a 9\n");
}

/* Signals ------------------------------------------------------------------------------------------------ */

static volatile long signals;
static stack_t alternate;

HOOKED(handler) void handler(int sig)
{
    (void)sig;
    signals++;
    inner_hooked();
    b_hooked();
    AFTER();
}

static void storm(int flags)
{
    struct sigaction action = {.sa_handler = handler_hooked, .sa_flags = SA_RESTART | flags};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void calm(void)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void work_long(void)
{
    for (int i = 0; i < 200000; i++) {
        a_hooked();
        twice_hooked();
        deep_hooked(10);
    }
}

static uint64_t sum_of(int pid, uint32_t function)
{
    struct sums sums = {.function = function};
    probe_nodes_each(probe_store(directory, pid), sum_node, &sums);
    return sums.entries;
}

static void expect_long(void)
{
    char expected[2000];
    size_t n = (size_t)sprintf(expected, "run 1\n" A_TREE("run", "200000", "600000"));
    char path[200] = "run";
    for (int i = 0; i < 11; i++) {
        strcat(path, " deep");
        n += (size_t)sprintf(expected + n, "%s 200000\n", path);
    }
    sprintf(expected + n,
            "run twice 200000\nrun twice c 400000\nrun twice many 200000\nrun twice many c 200000\n");
    /* "deep 200000" sorts after "deep deep": digits come before letters */
    char *tree = probe_tree(probe_store(directory, getpid()), names, NAME_COUNT, 8);
    for (char *line = strtok(expected, "\n"); line; line = strtok(NULL, "\n")) {
        char whole[300];
        snprintf(whole, sizeof whole, "%s\n", line);
        cr_expect(strstr(tree, whole), "missing: %s in\n%s", line, tree);
    }
    size_t lines = 0;
    for (const char *p = tree; *p; p++)
        lines += *p == '\n';
    cr_expect_eq(lines, 1 + 4 + 11 + 4, "%s", tree);
    free(tree);
    cr_expect_gt(signals, 100);
    cr_expect_eq(sum_of(getpid(), 8), (uint64_t)signals);
    cr_expect_eq(sum_of(getpid(), 9), (uint64_t)signals);
    cr_expect_eq(sum_of(getpid(), 3), (uint64_t)signals + 200000);
}

struct handlers {
    bool alternate; /* they run on a stack of their own */
    uint32_t roots; /* outermost ones */
};

/* The handler calls these two and nothing else; what interrupted it may be anything that runs: on the thread's own stack nothing, too, just
 * before run() and after it. */
static void check_handlers(const struct store_node *nodes, const struct store_node *node, void *context)
{
    struct handlers *handlers = context;
    const struct store_node *parent = nodes + node->parent;
    if (parent->function == 8)
        cr_expect(node->function == 9 || node->function == 3, "handler calls %u", node->function);
    if (node->function == 9)
        cr_expect_eq(parent->function, 8);
    if (node->function == 8) {
        cr_expect_eq(node->site, 0);
        const bool outermost = parent->function == STORE_ROOT;
        const bool marked = outermost && handlers->alternate;
        handlers->roots += outermost;
        cr_expect_eq(node->height & STORE_SIGNAL, marked ? STORE_SIGNAL : 0);
        cr_expect(!marked || store_height(node) == STORE_SIGNAL_HEIGHT, "it is below a root of its own");
    }
}

Test(probe_core, signals)
{
    sizes();
    struct handlers handlers = {.alternate = false};
    work = work_long;
    storm(0);
    run_hooked();
    calm();
    expect_long();
    probe_nodes_each(probe_store(directory, getpid()), check_handlers, &handlers);
}

static void alternate_storm(bool tell)
{
    sizes();
    alternate.ss_size = 65536;
    cr_assert_eq(sigaltstack(&alternate, NULL), 0);
    if (tell)
        core_stack((uint64_t)alternate.ss_sp, (uint64_t)alternate.ss_sp + alternate.ss_size);
    struct handlers handlers = {.alternate = true};
    work = work_long;
    storm(SA_ONSTACK);
    run_hooked();
    calm();
    expect_long();
    probe_nodes_each(probe_store(directory, getpid()), check_handlers, &handlers);
    cr_expect_eq(handlers.roots, 1, "%u handlers are outermost: one is", handlers.roots);
}

Test(probe_core, alternate_stack_told)
{
    alternate.ss_sp = malloc(65536);
    alternate_storm(true);
}

Test(probe_core, alternate_stack_found)
{
    alternate.ss_sp = malloc(65536);
    alternate_storm(false);
}

Test(probe_core, alternate_stack_within_the_stack)
{
    char capacity[65536];
    alternate.ss_sp = capacity;
    alternate_storm(true);
}

/* Coroutines --------------------------------------------------------------------------------------------- */

static ucontext_t main_context, co_context[2];
static int turns;

HOOKED(co) void co(void)
{
    for (;;) {
        b_hooked();
        int self = turns & 1;
        swapcontext(&co_context[self], &main_context);
        c_hooked();
    }
}

static void work_coroutines(void)
{
    for (turns = 0; turns < 100; turns++) {
        swapcontext(&main_context, &co_context[turns & 1]);
        c_hooked();
    }
}

static void make_coroutines(char *memory, size_t size, bool tell)
{
    for (int i = 0; i < 2; i++) {
        getcontext(&co_context[i]);
        co_context[i].uc_stack.ss_sp = memory + (size_t)i * size;
        co_context[i].uc_stack.ss_size = size;
        makecontext(&co_context[i], co_hooked, 0);
        if (tell)
            core_stack((uint64_t)memory + (size_t)i * size, (uint64_t)memory + (size_t)(i + 1) * size);
    }
}

#define COROUTINES "co 2\nco b 100\nco b c 100\nco c 98\nrun 1\nrun c 100\n"

Test(probe_core, coroutines_told)
{
    make_coroutines(malloc(65536), 32768, true);
    work = work_coroutines;
    run_hooked();
    expect_tree(getpid(), 0, COROUTINES);
    struct height_of h = {.function = 10};
    probe_nodes_each(probe_store(directory, getpid()), find_height, &h);
    cr_expect_eq(h.height, 0);
    cr_expect_eq(h.seen, 1);
}

Test(probe_core, coroutines_found)
{
    char *memory = mmap(NULL, 4 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    make_coroutines(memory, 65536, false);
    mprotect(memory + 65536, 65536, PROT_NONE);
    co_context[1].uc_stack.ss_sp = memory + 2 * 65536;
    makecontext(&co_context[1], co_hooked, 0);
    work = work_coroutines;
    run_hooked();
    expect_tree(getpid(), 0, COROUTINES);
}

static void *go_on(void *argument)
{
    (void)argument;
    swapcontext(&main_context, &co_context[turns & 1]);
    return NULL;
}

Test(probe_core, coroutine_between_threads)
{
    make_coroutines(malloc(65536), 32768, true);
    for (turns = 0; turns < 40; turns += 2) {
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, go_on, NULL), 0);
        pthread_join(thread, NULL);
        go_on(NULL);
        c_hooked();
    }
    expect_tree(getpid(), 0, "c 20\nco 1\nco b 40\nco b c 40\nco c 39\n");
}

/* A stack that is gone, and another in its place that reaches further down. */
Test(probe_core, coroutine_stack_replaced)
{
    for (volatile int i = 0; i < 6; i++) {
        size_t size = i & 1 ? 65536 : 32768;
        char *place = (char *)0x600000000000, *memory = place + (i & 1 ? 0 : 49152);
        cr_assert_eq(
            mmap(memory, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            memory);
        getcontext(&co_context[0]);
        co_context[0].uc_stack.ss_sp = memory;
        co_context[0].uc_stack.ss_size = size;
        makecontext(&co_context[0], co_hooked, 0);
        turns = 0;
        swapcontext(&main_context, &co_context[0]);
        c_hooked();
        munmap(place, 1 << 20);
    }
    expect_tree(getpid(), 0, "c 6\nco 6\nco b 6\nco b c 6\n");
}

/* Threads ------------------------------------------------------------------------------------------------ */

static _Unwind_Reason_Code outermost(struct _Unwind_Context *context, void *argument)
{
    if (_Unwind_GetIP(context))
        *(uint64_t *)argument = _Unwind_GetCFA(context);
    return _URC_NO_REASON;
}

static uint64_t thread_base_seen, start_cfa;

HOOKED(start) void *start(void *argument)
{
    start_cfa = (uint64_t)__builtin_dwarf_cfa();
    if (argument)
        _Unwind_Backtrace(outermost, &thread_base_seen); /* ends in clone3: its callee's CFA */
    for (int i = 0; i < 1000; i++)
        a_hooked();
    return NULL;
}

Test(probe_core, threads)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, start_hooked, NULL), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    expect_tree(getpid(), 0, "start 8\n" A_TREE("start", "8000", "24000"));
}

Test(probe_core, thread_base)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, start_hooked, &thread_base_seen), 0);
    pthread_join(thread, NULL);
    struct height_of h = {.function = 11};
    probe_nodes_each(probe_store(directory, getpid()), find_height, &h);
    cr_expect_eq(thread_base_seen, start_cfa + h.height, "base %#lx, CFA %#lx, height %u", thread_base_seen,
                 start_cfa, h.height);
}

Test(probe_core, many_threads)
{
    for (int i = 0; i < 10000; i++) {
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, start_hooked, NULL), 0);
        pthread_join(thread, NULL);
    }
    expect_tree(getpid(), 0, "start 10000\n" A_TREE("start", "10000000", "30000000"));
    struct store_header header = probe_header(probe_store(directory, getpid()));
    cr_expect_eq(header.thread_count, 10001);
    cr_expect_leq(header.tree_count, 20);
    cr_expect_leq(header.chunk_count, 20);
}

/* Processes ---------------------------------------------------------------------------------------------- */

static bool raw_fork, told;
static pid_t child;

static void work_fork(void)
{
    b_hooked();
    child = raw_fork ? (pid_t)syscall(SYS_fork) : fork();
    if (!child && told)
        core_fork_child();
    a_hooked();
}

static void fork_test(void)
{
    work = work_fork;
    run_hooked();
    if (!child)
        _exit(0);
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    expect_tree(getpid(), 0, "run 1\n" A_TREE("run", "1", "3") "run b 1\nrun b c 1\n");
    cr_expect_eq(probe_header(probe_store(directory, child)).parent_pid, (uint32_t)getpid());
    char *tree = probe_tree(probe_store(directory, child), names, NAME_COUNT, 0);
    cr_expect(strstr(tree, "run 0\n" A_TREE("run", "1", "3")), "%s", tree);
    cr_expect_not(strstr(tree, "run b 1"), "%s", tree);
    free(tree);
}

Test(probe_core, fork_told)
{
    told = true;
    fork_test();
}

Test(probe_core, fork_found)
{
    raw_fork = true;
    fork_test();
}

static void work_vfork(void)
{
    child = vfork();
    if (!child) {
        b_hooked();
        core_fork_child();
        _exit(0);
    }
    c_hooked();
}

Test(probe_core, vfork)
{
    int status;
    work = work_vfork;
    run_hooked();
    cr_assert_eq(waitpid(child, &status, 0), child);
    expect_tree(getpid(), 0, "run 1\nrun b 1\nrun b c 1\nrun c 1\n");
}

static void work_killed(void)
{
    for (int i = 0; i < 1000; i++)
        a_hooked();
    kill(getpid(), SIGKILL);
}

Test(probe_core, killed)
{
    child = fork();
    if (!child) {
        core_fork_child();
        work = work_killed;
        run_hooked();
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFSIGNALED(status));
    expect_tree(child, 0, "run 1\n" A_TREE("run", "1000", "3000"));
}

/* Room --------------------------------------------------------------------------------------------------- */

static void run_out(int failure)
{
    cr_assert_eq(core_start(directory), 0);
    for (int i = 0; i < 40000; i++) {
        work = work_plain;
        char *p = alloca(64); /* other heights: other nodes */
        __asm__ volatile("" : : "r"(p) : "memory");
        run_hooked();
    }
    struct store_header header = probe_header(probe_store(directory, getpid()));
    cr_expect_gt(header.dropped, 0);
    cr_expect_eq(header.failure, failure);
    uint64_t entries = 0;
    for (uint32_t id = 1; id <= 4; id++)
        entries += sum_of(getpid(), id);
    cr_expect_gt(entries, 10000);
    cr_expect_eq(entries + header.dropped, 40000ull * 15, "%lu counted, %lu dropped", entries,
                 header.dropped);
}

Test(probe_start, file_limit)
{
    cr_assert(mkdtemp(directory));
    struct rlimit limit = {STORE_NODES_AT + 17 * STORE_CHUNK_SIZE, RLIM_INFINITY};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    run_out(EFBIG);
    end();
}

Test(probe_start, disk_full)
{
    cr_assert(mkdtemp(directory));
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", directory, "tmpfs", 0, "size=2m")) {
        rmdir(directory);
        cr_skip("file systems may not be mounted here");
    }
    run_out(ENOSPC);
    cr_expect_eq(umount2(directory, MNT_DETACH), 0);
    rmdir(directory);
}

/* Nodes are 32 bytes, and a program of 4 GiB of address space has a smaller store. */
Test(probe_start, address_space_limit)
{
#if ADDRESS_SANITIZED
    cr_skip("the address sanitizer needs the address space");
#endif
    cr_assert(mkdtemp(directory));
    struct rlimit limit = {4ull << 30, RLIM_INFINITY};
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    cr_assert_eq(core_start(directory), 0);
    work = work_plain;
    run_hooked();
    char *tree = probe_tree(probe_store(directory, getpid()), names, NAME_COUNT, 0);
    cr_expect_str_eq(tree, "run 1\n" A_TREE("run", "2", "6") "run b 1\nrun b c 1\n");
    free(tree);
    end();
}

Test(probe_start, no_directory)
{
    cr_expect_eq(core_start("/nonexistent/place"), -ENOENT);
    work = work_plain;
    run_hooked(); /* does nothing */
    cr_expect_eq(core_functions(0, 1), UINT32_MAX);
}
