/*
 * arena.h - memory that is freed all at once.
 *
 * Blocks grow as needed; single allocations are never freed. Not thread-safe.
 */
#ifndef FATHOM_BASE_ARENA_H
#define FATHOM_BASE_ARENA_H

#include <stddef.h>

struct arena;

/* An empty arena that allocates blocks of at least block_bytes (0: 64 KiB). NULL: out of memory. */
struct arena *arena_new(size_t block_bytes);
void arena_free(struct arena *arena); /* NULL is allowed */

/* Zeroed memory, aligned for any object; NULL: out of memory. Lives until arena_free. */
void *arena_alloc(struct arena *arena, size_t bytes);
char *arena_strdup(struct arena *arena, const char *text);

#endif
