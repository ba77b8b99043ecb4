/* address_index.c - builds the buckets; see address_index.h. */
#include "image/elf/address_index.h"

#include <errno.h>
#include <stdlib.h>

#define SMALLEST_SHIFT 4

int address_index_build(struct address_index *index, const uint32_t *starts, uint32_t count)
{
    struct address_index ix = {.starts = starts, .count = count, .shift = SMALLEST_SHIFT};
    uint32_t last = count ? starts[count - 1] : 0;
    while ((last >> ix.shift) > (uint64_t)count + 64)
        ix.shift++;
    ix.bucket_count = (last >> ix.shift) + 1;
    ix.buckets = malloc((ix.bucket_count + (size_t)1) * sizeof *ix.buckets);
    if (!ix.buckets)
        return -ENOMEM;
    uint32_t at = 0;
    for (uint32_t b = 0; b <= ix.bucket_count; b++) {
        uint64_t first = (uint64_t)b << ix.shift;
        while (at + (uint64_t)1 < count && starts[at + 1] <= first)
            at++;
        ix.buckets[b] = at;
    }
    *index = ix;
    return 0;
}

void address_index_free(struct address_index *index)
{
    free(index->buckets);
    *index = (struct address_index){0};
}
