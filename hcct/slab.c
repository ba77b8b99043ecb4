/* slab.c - see slab.h. */
#include "hcct/slab.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE        64u
#define FIRST_BLOCK ((size_t)16 << 10)
#define MOST_BLOCK  ((size_t)32 << 20)
#define HUGE_PAGE   ((size_t)2 << 20)

struct slab_block {
    struct slab_block *next;
    void *memory;
};

void slab_init(struct slab *slab, size_t object)
{
    *slab = (struct slab){.object = object};
}

void slab_clear(struct slab *slab)
{
    for (struct slab_block *b = slab->blocks, *next; b; b = next) {
        next = b->next;
        free(b->memory);
        free(b);
    }
    slab_init(slab, slab->object);
}

static int add_block(struct slab *slab, size_t size)
{
    struct slab_block *b = malloc(sizeof *b);
    bool huge = size % HUGE_PAGE == 0;
    void *memory = b ? aligned_alloc(huge ? HUGE_PAGE : LINE, size) : NULL;
    if (!memory) {
        free(b);
        return -1;
    }
    if (huge)
        madvise(memory, size, MADV_HUGEPAGE);
    *b = (struct slab_block){slab->blocks, memory};
    slab->blocks = b;
    slab->bytes += size;
    slab->at = memory;
    slab->end = slab->at + size;
    return 0;
}

int slab_reserve(struct slab *slab, size_t count)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, slab->object, &bytes) || bytes > SIZE_MAX - LINE)
        return -1;
    return add_block(slab, (bytes + LINE - 1) / LINE * LINE);
}

/* Adds a block: a quarter of the size of all others together, within bounds, as that much may stay unused. */
static int add_slab_block(struct slab *slab)
{
    size_t size = FIRST_BLOCK;
    while (size < slab->bytes / 4 && size < MOST_BLOCK)
        size *= 2;
    return add_block(slab, size);
}

void *slab_alloc(struct slab *slab)
{
    void *object = slab->free;
    if (object) {
        slab->free = *(void **)object;
        return object;
    }
    if ((size_t)(slab->end - slab->at) < slab->object && add_slab_block(slab) < 0)
        return NULL;
    object = slab->at;
    slab->at += slab->object;
    return object;
}

bool slab_is_one(const struct slab *slab)
{
    return slab->blocks && !slab->blocks->next;
}

void *slab_first(const struct slab *slab)
{
    return slab->blocks->memory;
}

void slab_restart(struct slab *slab, size_t count)
{
    slab->free = NULL;
    slab->at = (unsigned char *)slab->blocks->memory + count * slab->object;
}

void slab_give(struct slab *slab, void *object)
{
    *(void **)object = slab->free;
    slab->free = object;
}
