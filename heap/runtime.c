/*
 * runtime.c - loaded into the programs of `fathom record --alloc`: markers at some of the allocations (sampling.h), and where these are freed, in the
 * allocator's functions themselves, so that their callers are those of the allocation. Arguments: the bytes that it stands for, its address (0: it
 * will not be told when it is freed), its own bytes.
 *
 * Only while a recorder looks (marker.h): else it costs a comparison. FATHOM_HEAP: the mean bytes between two samples of a thread.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "heap/marker.h"
#include "heap/sampled.h"
#include "heap/sampling.h"

#define MEAN_BYTES 524288

MARKER_BASE;
MARKER_DEFINE(allocated);
MARKER_DEFINE(freed);

static double mean = MEAN_BYTES;

struct counting {
    int64_t left;    /* bytes to the next sample */
    uint64_t random; /* 0: nothing was counted yet */
};
static __thread __attribute__((tls_model("initial-exec"))) struct counting counting;

/* Looked up, as each C library has another function for it: glibc's pthread_atfork() is in no shared library. */
static void watch_forks(void)
{
    int (*glibc)(void (*)(void), void (*)(void), void (*)(void), void *) =
        dlsym(RTLD_DEFAULT, "__register_atfork");
    int (*other)(void (*)(void), void (*)(void), void (*)(void)) = dlsym(RTLD_DEFAULT, "pthread_atfork");
    if (glibc)
        glibc(sampled_fork_begins, sampled_fork_ends, sampled_fork_ends, NULL);
    else if (other)
        other(sampled_fork_begins, sampled_fork_ends, sampled_fork_ends);
}

/* No constructor of the program has run: what it allocates before is counted with the default. */
__attribute__((constructor(101))) static void start(void)
{
    const char *value = getenv("FATHOM_HEAP");
    const double bytes = value ? strtod(value, NULL) : 0;
    if (bytes >= 1)
        mean = bytes;
    counting = (struct counting){0}; /* how far it was does not matter: it has no memory */
    watch_forks();
}

static void begin_counting(struct counting *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    c->random = (uint64_t)(uintptr_t)c ^ (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    c->random = c->random ? c->random : 1;
    for (unsigned i = 0; i < 8; i++) /* close states give close numbers at first */
        sampling_random(&c->random);
    c->left = sampling_next(&c->random, mean);
}

/* Of an allocation that went beyond what was left: the bytes that it stands for; 0: it is not sampled. *address: 0 if there is no room. */
__attribute__((noinline)) static uint64_t sample(size_t size, uint64_t *address)
{
    struct counting *c = &counting;
    if (!c->random) {
        begin_counting(c);
        c->left -= (int64_t)size;
        if (c->left > 0)
            return 0;
    }
    c->left = sampling_next(&c->random, mean);
    const uint64_t weight = sampling_weight(size, mean);
    if (!sampled_add((struct sampled){*address, weight, size}))
        *address = 0;
    return weight;
}

/* One of the file's functions is inlined where it is called: the marker is to be there. */
__attribute__((always_inline)) static inline void note_allocated(const void *memory, size_t size, uint64_t pc,
                                                                 uint64_t sp)
{
    (void)pc;
    (void)sp;
    if (!MARKER_WATCHED(allocated) || !memory)
        return;
    counting.left -= size < INT64_MAX / 2 ? (int64_t)size : INT64_MAX / 2;
    if (__builtin_expect(counting.left > 0, 1))
        return;
    uint64_t address = (uint64_t)(uintptr_t)memory;
    const uint64_t weight = sample(size, &address);
    if (weight)
        MARKER(allocated, weight, address, size);
}

__attribute__((always_inline)) static inline void note_freed(const void *memory, uint64_t pc)
{
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    (void)pc;
    if (__builtin_expect(!sampled_maybe(address), 1))
        return;
    const struct sampled taken = sampled_take(address);
    if (taken.weight && MARKER_WATCHED(freed))
        MARKER(freed, taken.weight, address, taken.size);
}

/* Its end was told already, of an object that could not be made larger. */
static inline void note_kept(void *memory, uint64_t pc, uint64_t sp)
{
    (void)memory;
    (void)pc;
    (void)sp;
}

#define ALLOCATOR_CALLER 0, 0
#include "base/allocator.h"
