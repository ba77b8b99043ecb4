/* shadow.c - see shadow.h. */
#include "tests/oracle/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/* The first entry below an address. */
static size_t first_below(const struct shadow *s, uint64_t address)
{
    return lower_bound(i, (size_t)0, s->count, s->entries[i].slot >= address);
}

void shadow_push(struct shadow *s, uint64_t slot, uint64_t return_address)
{
    shadow_drop(s, slot, slot + 1);
    const size_t at = first_below(s, slot);
    if (!vec_reserve(s->entries, s->count, s->capacity, 1))
        abort();
    memmove(s->entries + at + 1, s->entries + at, (s->count++ - at) * sizeof *s->entries);
    s->entries[at] = (struct shadow_entry){slot, return_address};
}

void shadow_drop(struct shadow *s, uint64_t low, uint64_t high)
{
    const size_t from = first_below(s, high), to = first_below(s, low);
    memmove(s->entries + from, s->entries + to, (s->count - to) * sizeof *s->entries);
    s->count -= to - from;
}

const struct shadow_entry *shadow_above(const struct shadow *s, uint64_t address)
{
    const size_t beyond = first_below(s, address);
    return beyond ? &s->entries[beyond - 1] : NULL;
}
