/* arena.c - a chain of blocks, the newest first; see arena.h. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    size_t used, size; /* of data[] */
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    struct block *head;
    size_t block_bytes;
};

struct arena *arena_new(size_t block_bytes)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena)
        arena->block_bytes = block_bytes ? block_bytes : 64 * 1024;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct block *b = arena->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct block *b = arena->head;
    if (!b || b->size - b->used < bytes) {
        size_t size = bytes > arena->block_bytes ? bytes : arena->block_bytes;
        b = calloc(1, sizeof *b + size);
        if (!b)
            return NULL;
        b->size = size;
        b->next = arena->head;
        arena->head = b;
    }
    void *p = b->data + b->used;
    b->used += bytes;
    return p;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = arena_alloc(arena, n);
    return copy ? memcpy(copy, text, n) : NULL;
}
