/*
 * edges.h - finds the number of a record that the caller keeps in an array, by another record that it hangs
 * from (a child by its parent) and a hash of all that tells it.
 *
 * Records that hang from neighbours lie together: trees mostly grow where they grew last, so most look-ups
 * touch memory that the last ones brought into the caches, where a plain hash table misses them each time.
 * Slots come in lines of 8, and each EDGES_PER_LINE numbers share a line for what hangs from them. What
 * finds its line full goes where its hash says, by open addressing. Nothing is ever removed.
 */
#ifndef FATHOM_PATHMAP_MAP_EDGES_H
#define FATHOM_PATHMAP_MAP_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDGES_NONE     UINT32_MAX
#define EDGES_LINE     8u
#define EDGES_PER_LINE 5u

struct edge_slot {
    uint32_t hash;
    uint32_t number; /* EDGES_NONE: free */
};

struct edges {
    struct edge_slot *slots;
    size_t capacity; /* a multiple of EDGES_LINE, more than room */
    uint32_t room;
};

/* For up to `room` numbers, all below it, that hang from numbers below it. false: out of memory. */
bool edges_init(struct edges *edges, uint32_t room);
void edges_clear(struct edges *edges);
/* The number must not be there yet. */
void edges_put(struct edges *edges, uint32_t from, uint32_t hash, uint32_t number);

/* The slot to look at as the *cursor'th. */
static inline size_t edges_slot(const struct edges *edges, uint32_t from, uint32_t hash, size_t cursor)
{
    if (cursor < EDGES_LINE)
        return (size_t)(from / EDGES_PER_LINE) * EDGES_LINE + cursor;
    size_t at = (size_t)((uint64_t)hash * edges->capacity >> 32) + cursor - EDGES_LINE;
    return at < edges->capacity ? at : at - edges->capacity;
}

/* The numbers put with this hash, one a call (start with *cursor = 0), EDGES_NONE after the last. The caller
 * compares the record. */
static inline uint32_t edges_next(const struct edges *edges, uint32_t from, uint32_t hash, size_t *cursor)
{
    for (;;) {
        const struct edge_slot *slot = &edges->slots[edges_slot(edges, from, hash, (*cursor)++)];
        if (slot->number == EDGES_NONE || slot->hash == hash)
            return slot->number;
    }
}

#endif
