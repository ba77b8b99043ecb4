/* space.c - see space.h. A sorted, reference-counted array, copied on write. */
#include "process/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

struct space {
    size_t references;
    size_t count, capacity; /* regions in use and allocated */
    struct region *regions;
};

struct space *space_new(void)
{
    struct space *s = calloc(1, sizeof *s);
    if (s)
        s->references = 1;
    return s;
}

struct space *space_share(struct space *s)
{
    s->references++;
    return s;
}

void space_release(struct space *s)
{
    if (!s || --s->references)
        return;
    free(s->regions);
    free(s);
}

/* Makes *space the only reference to its regions. */
static bool space_own(struct space **space)
{
    struct space *shared = *space;
    if (shared->references == 1)
        return true;
    struct space *own = space_new();
    if (!own || !vec_reserve(own->regions, 0, own->capacity, shared->count)) {
        space_release(own);
        return false;
    }
    if (shared->count)
        memcpy(own->regions, shared->regions, shared->count * sizeof *own->regions);
    own->count = shared->count;
    shared->references--;
    *space = own;
    return true;
}

/* Index of the first region that ends above the address. */
static size_t space_first_after(const struct space *s, uint64_t address)
{
    return lower_bound(i, 0, s->count, s->regions[i].mapping.end <= address);
}

/* Replaces the regions [from, to) by the `count` given ones (which are not in the array). */
static bool space_splice(struct space *s, size_t from, size_t to, const struct region *with, size_t count)
{
    size_t tail = s->count - to;
    if (!vec_reserve(s->regions, from, s->capacity, count + tail))
        return false;
    if (tail)
        memmove(s->regions + from + count, s->regions + to, tail * sizeof *with);
    if (count)
        memcpy(s->regions + from, with, count * sizeof *with);
    s->count = from + count + tail;
    return true;
}

/* Replaces [start, end) by `middle` (or nothing); parts of regions outside the range stay. */
static int space_replace(struct space **space, uint64_t start, uint64_t end, const struct region *middle)
{
    size_t from = space_first_after(*space, start), to = from;
    while (to < (*space)->count && (*space)->regions[to].mapping.start < end)
        to++;
    if (from == to && !middle)
        return 0;
    if (!space_own(space))
        return -ENOMEM;
    struct space *s = *space;
    struct region with[3];
    size_t count = 0;
    if (from < to && s->regions[from].mapping.start < start) {
        with[count] = s->regions[from];
        with[count++].mapping.end = start;
    }
    if (middle)
        with[count++] = *middle;
    if (from < to && s->regions[to - 1].mapping.end > end) {
        with[count] = s->regions[to - 1];
        with[count].mapping.offset += end - with[count].mapping.start;
        with[count++].mapping.start = end;
    }
    if (s->count - (to - from) + count > SPACE_MAX_REGIONS)
        return -ENOSPC;
    return space_splice(s, from, to, with, count) ? 0 : -ENOMEM;
}

bool space_cut(struct space **space, uint64_t start, uint64_t end)
{
    return space_replace(space, start, end, NULL) != -ENOMEM;
}

int space_add(struct space **space, const struct region *region)
{
    return space_replace(space, region->mapping.start, region->mapping.end, region);
}

size_t space_count(const struct space *s)
{
    return s->count;
}

struct region *space_at(struct space *s, size_t index)
{
    return &s->regions[index];
}

size_t space_find(const struct space *s, uint64_t address)
{
    size_t i = space_first_after(s, address);
    return i < s->count && s->regions[i].mapping.start <= address ? i : SPACE_NONE;
}
