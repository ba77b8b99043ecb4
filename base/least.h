/*
 * least.h - finds the smallest of counters that only grow, for Lazy Space Saving (HCCT paper, section 4.1).
 * Uses no library. The paper's find-min scans an array for another counter that equals the minimum; with
 * weights there rarely is one, and each eviction would scan everything. Here a scan puts all counters up to a
 * cutoff, about one in LEAST_CUT, into a heap that stays in the CPU's cache. Its keys are lower bounds:
 * adding to a counter does not change its bound, and finding the smallest repairs the top of the heap until
 * it is exact, or drops what has grown past the cutoff. All other counters are above it; when the heap is
 * empty they are scanned again.
 */
#ifndef FATHOM_BASE_LEAST_H
#define FATHOM_BASE_LEAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/select.h"

#define LEAST_CUT     16
#define LEAST_SAMPLES 512

struct least_candidate {
    uint64_t bound; /* at most the counter's value */
    uint32_t slot;
};

struct least {
    struct least_candidate *heap; /* ordered by bound, each slot at most once; owned by the user */
    uint64_t *samples; /* scratch space for LEAST_SAMPLES, as stacks may be small; owned by the user */
    uint32_t count, capacity;
    uint64_t cutoff; /* counters without a candidate are above it */
    uint64_t random;
};

/* The value of a counter. Inlined, with the functions below. */
typedef uint64_t (*least_value)(const void *counters, uint32_t slot);
/* Grows the heap by one candidate; false: out of memory. */
typedef bool (*least_reserve)(struct least *least);

#define LEAST_NONE UINT32_MAX

#define LEAST_INLINE static inline __attribute__((always_inline))

static inline void least_sift_down(struct least *least, uint32_t at)
{
    struct least_candidate *heap = least->heap, moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < least->count; at = child) {
        if (child + 1 < least->count && heap[child + 1].bound < heap[child].bound)
            child++;
        if (moved.bound <= heap[child].bound)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Chooses the cutoff and collects the candidates, at least one. false: out of memory. */
LEAST_INLINE bool least_scan(struct least *least, const void *counters, uint32_t count, least_value value,
                             least_reserve reserve)
{
    for (uint32_t i = 0; i < LEAST_SAMPLES; i++)
        least->samples[i] = value(counters, (uint32_t)(hash_random(&least->random) % count));
    least->cutoff = select_u64(least->samples, LEAST_SAMPLES, LEAST_SAMPLES / LEAST_CUT);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t has = value(counters, i);
        if (has > least->cutoff)
            continue;
        if (!reserve(least)) {
            least->count = 0;
            return false;
        }
        least->heap[least->count++] = (struct least_candidate){has, i};
    }
    for (uint32_t i = least->count / 2; i-- > 0;)
        least_sift_down(least, i);
    return true;
}

/* The slot of the smallest of `count` counters, count > 0; it may then be reused for another item, with the
 * same value or more. LEAST_NONE: out of memory. */
LEAST_INLINE uint32_t least_find(struct least *least, const void *counters, uint32_t count, least_value value,
                                 least_reserve reserve)
{
    for (;;) {
        if (!least->count && !least_scan(least, counters, count, value, reserve))
            return LEAST_NONE;
        struct least_candidate *top = least->heap;
        uint64_t has = value(counters, top->slot);
        if (has == top->bound)
            return top->slot;
        if (has <= least->cutoff)
            top->bound = has;
        else
            *top = least->heap[--least->count];
        if (least->count)
            least_sift_down(least, 0);
    }
}

/* Call after the counters were replaced. */
static inline void least_restart(struct least *least)
{
    least->count = 0;
}

#endif
