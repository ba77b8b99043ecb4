/*
 * slab.h - memory for very many objects of one size, in blocks that grow with their number. Blocks of 2 MiB and more ask for
 * huge pages, except reserved ones. The object freed last is the next one to be allocated.
 */
#ifndef FATHOM_HCCT_SLAB_H
#define FATHOM_HCCT_SLAB_H

#include <stdbool.h>
#include <stddef.h>

struct slab_block;

struct slab {
    size_t object; /* bytes, a multiple of 8 */
    unsigned char *at, *end;
    void *free; /* linked by their first word */
    struct slab_block *blocks;
    size_t bytes; /* allocated from the system */
};

/* Objects of 32 bytes do not cross cache lines. */
void slab_init(struct slab *slab, size_t object);
void slab_clear(struct slab *slab);
/* The next `count` objects are allocated from one block. The slab must be unused. -1: out of memory. */
int slab_reserve(struct slab *slab, size_t count);
bool slab_is_one(const struct slab *slab); /* there is one block */
/* The address of the first object, if there is one block. */
void *slab_first(const struct slab *slab);
/* With one block: the first `count` objects are in use from now on, and no others. */
void slab_restart(struct slab *slab, size_t count);
/* Not zeroed; NULL: out of memory. */
void *slab_alloc(struct slab *slab);
void slab_give(struct slab *slab, void *object);

#endif
