/*
 * address_index.h - finds the last of many sorted addresses that does not exceed a given one, in two memory
 * accesses.
 *
 * The starts are 32-bit offsets from a base, ascending. The span is divided into equal buckets, about one per
 * start; a bucket stores the last start not above its first address, and a short scan (a binary search in
 * crowded buckets) does the rest. Memory is linear in the number of starts, independent of the span.
 */
#ifndef FATHOM_IMAGE_ELF_ADDRESS_INDEX_H
#define FATHOM_IMAGE_ELF_ADDRESS_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define ADDRESS_INDEX_NONE UINT32_MAX

struct address_index {
    const uint32_t *starts; /* borrowed */
    uint32_t count;
    uint32_t *buckets; /* one more than the number of buckets */
    uint32_t bucket_count;
    unsigned shift; /* log2 of a bucket's bytes */
};

/* starts: ascending, without duplicates; borrowed. 0 or -ENOMEM. */
int address_index_build(struct address_index *index, const uint32_t *starts, uint32_t count);
void address_index_free(struct address_index *index);

static inline uint32_t address_index_find(const struct address_index *index, uint32_t offset)
{
    if (index->count == 0 || offset < index->starts[0])
        return ADDRESS_INDEX_NONE;
    uint32_t bucket = offset >> index->shift;
    if (bucket >= index->bucket_count)
        return index->count - 1;
    const uint32_t *starts = index->starts;
    uint32_t low = index->buckets[bucket], high = index->buckets[bucket + 1];
    while (high - low > 8) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (starts[middle] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    while (low < high && starts[low + 1] <= offset)
        low++;
    return low;
}

#endif
