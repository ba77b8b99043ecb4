/*
 * region.c - finds the gap in the address space for region_near().
 *
 * Prefers the closest gap below the image, where nothing grows. Above it, takes the farthest within reach,
 * since the heap of brk() grows from a program's end.
 */
#include "pathmap/probe/region.h"

#include "pathmap/probe/maps.h"
#include "base/raw.h"

#define REACH      ((UINT64_C(1) << 31) - 65536)
#define LOWEST     UINT64_C(65536)     /* vm.mmap_min_addr */
#define STACK_ROOM (UINT64_C(1) << 30) /* the main thread's stack grows down */

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17; older kernels treat the address as a hint */
#endif

struct search {
    uint64_t low, high; /* the image */
    uint64_t size;
    uint64_t below, above; /* best so far, 0: none */
};

static void look_at_gap(struct search *s, uint64_t start, uint64_t end)
{
    uint64_t from = s->high > REACH + LOWEST ? RAW_PAGE_UP(s->high - REACH) : LOWEST;
    uint64_t to = RAW_PAGE_DOWN(s->low + REACH);
    start = start > from ? start : from;
    end = end < to ? end : to;
    if (start >= end || end - start < s->size)
        return;
    if (end <= s->low)
        s->below = end - s->size;
    else
        s->above = end - s->size;
}

static uint64_t find_gap(uint64_t low, uint64_t high, uint64_t size)
{
    struct search s = {.low = low, .high = high, .size = size};
    struct maps maps;
    struct maps_line line;
    uint64_t end = LOWEST;
    if (!maps_open(&maps))
        return 0;
    while (maps_next(&maps, &line)) {
        bool stack = raw_same(line.path, "[stack]");
        uint64_t room = stack ? STACK_ROOM : 0;
        if (line.start > room && line.start - room > end)
            look_at_gap(&s, end, line.start - room);
        end = line.end;
    }
    maps_close(&maps);
    return s.below ? s.below : s.above;
}

uint64_t region_near(uint64_t low, uint64_t high, size_t size)
{
    size = RAW_PAGE_UP(size);
    for (int tries = 0; tries < 4; tries++) { /* another thread may take the gap */
        uint64_t gap = find_gap(low, high, size);
        if (!gap)
            return 0;
        long p = raw_mmap(gap, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
        if (!raw_failed(p) && (uint64_t)p == gap)
            return gap;
        if (!raw_failed(p))
            raw_munmap((void *)p, size);
    }
    return 0;
}
