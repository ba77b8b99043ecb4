/*
 * slab.h - memory for very many objects of one size, in blocks that grow with their number. Blocks of 2 MiB and
 * more ask for huge pages, but for reserved ones. An object that is given back is the next one to be handed out.
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
    size_t bytes; /* taken from the system */
};

/* Objects whose size is 32 do not cross cache lines. */
void slab_init(struct slab *slab, size_t object);
void slab_clear(struct slab *slab);
/* The next objects, this many, are in one block. -1: out of memory. For a slab without any. */
int slab_reserve(struct slab *slab, size_t count);
/* So many objects more can be allocated without failing. -1: out of memory. */
int slab_spare(struct slab *slab, size_t count);
bool slab_is_one(const struct slab *slab); /* block */
/* Where its first object is; of a slab with one block. */
void *slab_first(const struct slab *slab);
/* Of its one block the first `count` objects are in use now, and all others are not. */
void slab_restart(struct slab *slab, size_t count);
/* Not zeroed; NULL: out of memory. */
void *slab_alloc(struct slab *slab);
void slab_give(struct slab *slab, void *object);

#endif
