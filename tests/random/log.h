/*
 * log.h - how a generated program keeps its own log of calls, and draws its lots.
 *
 * Every function's first statement is ENTER(id), its last one LEAVE(). An entry is an event that names the
 * event of its caller; the events are put together to paths when the program is done. All of it is inline: it
 * makes no call and touches no stack, so that the stack looks as it would without (a call would overwrite
 * what returned functions left there).
 */
#ifndef FATHOM_TESTS_RANDOM_LOG_H
#define FATHOM_TESTS_RANDOM_LOG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_EVENTS_MAX (1u << 17)
#define LOG_NONE       UINT32_MAX
#define LOG_INLINE     static inline __attribute__((always_inline))
/* Rounds of an empty loop at each entry, for tests that sample: they find the program in its functions, not where it
 * writes its log. */
#ifndef LOG_WORK
#define LOG_WORK 0
#endif

/* Below frames that align the stack, heights are not the same in each run: for tests that compare those of two. */
#ifdef LOG_STEADY
#define ALIGNED
#else
#define ALIGNED __attribute__((aligned(64)))
#endif

/* Calls of a function by its name: through pointers, for tests of such calls. */
#ifdef LOG_POINTERS
#define CALL(function)                                                                                       \
    __extension__({                                                                                          \
        __typeof__(&(function)) volatile log_pointer = (function);                                           \
        log_pointer;                                                                                         \
    })
#else
#define CALL(function) function
#endif

struct log_event {
    uint32_t parent; /* event, or node when the paths are made; LOG_NONE: a thread's outermost function */
    uint32_t function;
};

static struct log_event log_events[LOG_EVENTS_MAX];
static uint32_t log_count;

struct log_thread {
    uint32_t current; /* event of the innermost active function */
    int fuel;         /* entries that this thread may still make */
    uint64_t state;   /* of its lots */
};
static __thread struct log_thread log_here = {LOG_NONE, 0, 0};

LOG_INLINE uint32_t log_enter(uint32_t function)
{
    uint32_t event = __atomic_fetch_add(&log_count, 1, __ATOMIC_RELAXED);
    if (event >= LOG_EVENTS_MAX)
        __builtin_trap();
    log_events[event].parent = log_here.current;
    log_events[event].function = function;
    log_here.current = event;
    log_here.fuel--;
    for (uint32_t i = 0; i < LOG_WORK; i++)
        __asm__ volatile("");
    return event;
}

#define ENTER(id)                                                                                            \
    const uint32_t up = log_here.current;                                                                    \
    const uint32_t me = log_enter(id)
#define LEAVE() (void)(me, log_here.current = up)
/* What a longjmp or an exception comes back to is current again. */
#define BACK() (log_here.current = me)

/* A result that the compiler cannot foretell: it would rather return that than jump to who returns it. */
LOG_INLINE long veiled(long r)
{
    __asm__("" : "+r"(r));
    return r;
}

/* The last call of a function: a jump in optimised code, whose target takes the function's place. */
#ifdef __OPTIMIZE__
#define TAIL(r, call)                                                                                        \
    do {                                                                                                     \
        LEAVE();                                                                                             \
        return call;                                                                                         \
    } while (0)
#else
#define TAIL(r, call)                                                                                        \
    do {                                                                                                     \
        r += call;                                                                                           \
        LEAVE();                                                                                             \
        return r;                                                                                            \
    } while (0)
#endif

LOG_INLINE uint32_t lot(uint32_t below)
{
    uint64_t x = log_here.state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    log_here.state = x;
    return (uint32_t)(x >> 32) % below;
}

LOG_INLINE void log_begin(uint64_t seed, int fuel)
{
    log_here.state = (seed + 1) * 0x9e3779b97f4a7c15ull;
    log_here.fuel = fuel;
}

struct log_node {
    uint32_t parent, function, count, first, next;
};

/* The child of the parent; 0 is the root of all. */
static uint32_t log_child(struct log_node *nodes, uint32_t *count, uint32_t parent, uint32_t function)
{
    uint32_t n = nodes[parent].first;
    while (n && nodes[n].function != function)
        n = nodes[n].next;
    if (n)
        return n;
    n = ++*count;
    nodes[n] = (struct log_node){parent, function, 0, 0, nodes[parent].first};
    nodes[parent].first = n;
    return n;
}

static void log_print_path(const struct log_node *nodes, uint32_t n, const char *const *names)
{
    if (nodes[n].parent) {
        log_print_path(nodes, nodes[n].parent, names);
        putchar(';');
    }
    fputs(names[nodes[n].function], stdout);
}

/* "COUNT PATH" a line. A caller's event is older than those of what it calls. */
static void log_print(const char *const *names)
{
    struct log_node *nodes = (struct log_node *)calloc(log_count + 1, sizeof *nodes);
    uint32_t count = 0;
    for (uint32_t i = 0; i < log_count; i++) {
        uint32_t above = log_events[i].parent;
        uint32_t parent = above == LOG_NONE ? 0 : log_events[above].parent;
        uint32_t node = log_child(nodes, &count, parent, log_events[i].function);
        nodes[node].count++;
        log_events[i].parent = node;
    }
    for (uint32_t n = 1; n <= count; n++) {
        printf("%u ", nodes[n].count);
        log_print_path(nodes, n, names);
        putchar('\n');
    }
    free(nodes);
}

#endif
