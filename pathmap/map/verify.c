/*
 * verify.c - the checksums of an .fmap file's sections.
 *
 * A single thread reads about 3 to 6 GB/s of uncached memory, too slow to open a map of a million nodes in 10
 * ms, so the blocks are distributed among several.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/checksum.h"
#include "pathmap/map/fmap.h"

#define MOST_THREADS      4
#define BLOCKS_PER_THREAD 8 /* fewer do not justify starting one */

struct block {
    const uint8_t *data;
    uint64_t length;
};

/* Blocks of all sections, of which each thread takes the next one. */
struct summing {
    const struct block *blocks;
    uint64_t *sums; /* by block */
    size_t count;
    atomic_size_t next;
};

static size_t block_count(uint64_t length)
{
    return (length + FMAP_BLOCK - 1) / FMAP_BLOCK;
}

/* Returns where the next section's blocks go. */
static struct block *blocks_cut(const uint8_t *data, uint64_t length, struct block *blocks)
{
    while (length) {
        uint64_t part = length < FMAP_BLOCK ? length : FMAP_BLOCK;
        *blocks++ = (struct block){data, part};
        data += part;
        length -= part;
    }
    return blocks;
}

static void *sum_blocks(void *context)
{
    struct summing *all = context;
    size_t i;
    while ((i = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed)) < all->count)
        all->sums[i] = checksum_of(all->blocks[i].data, all->blocks[i].length);
    return NULL;
}

static void sum_in_threads(struct summing *all)
{
    pthread_t threads[MOST_THREADS];
    size_t count = 0, wanted = all->count / BLOCKS_PER_THREAD;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted > MOST_THREADS)
        wanted = MOST_THREADS;
    if (processors > 0 && wanted > (size_t)processors)
        wanted = (size_t)processors;
    while (count + 1 < wanted && pthread_create(&threads[count], NULL, sum_blocks, all) == 0)
        count++;
    sum_blocks(all);
    while (count)
        pthread_join(threads[--count], NULL);
}

static uint64_t sum_append(uint64_t sum, uint64_t block)
{
    uint64_t both[] = {sum, block};
    return checksum_of(both, sizeof both);
}

int fmap_verify(const uint8_t *file, const struct fmap_section *sections, uint32_t count)
{
    struct summing all = {0};
    for (uint32_t i = 0; i < count; i++)
        all.count += block_count(sections[i].length);
    struct block *blocks = malloc((all.count + 1) * sizeof *blocks), *at = blocks;
    uint64_t *sums = malloc((all.count + 1) * sizeof *sums);
    int rc = blocks && sums ? 0 : -ENOMEM;
    if (rc == 0) {
        all.blocks = blocks;
        all.sums = sums;
        for (uint32_t i = 0; i < count; i++)
            at = blocks_cut(file + sections[i].offset, sections[i].length, at);
        sum_in_threads(&all);
    }
    for (size_t i = 0, block = 0; rc == 0 && i < count; i++) {
        uint64_t sum = 0;
        for (size_t end = block + block_count(sections[i].length); block < end; block++)
            sum = sum_append(sum, sums[block]);
        if (sum != sections[i].checksum)
            rc = -EBADMSG;
    }
    free(blocks);
    free(sums);
    return rc;
}

uint64_t fmap_checksum(const void *data, uint64_t length)
{
    const uint8_t *at = data;
    uint64_t sum = 0;
    while (length) {
        uint64_t part = length < FMAP_BLOCK ? length : FMAP_BLOCK;
        sum = sum_append(sum, checksum_of(at, part));
        at += part;
        length -= part;
    }
    return sum;
}
