/*
 * edges.h - looks up the number of a record in an array of the caller's, by the record it is attached to (a
 * child by its parent) and a hash of everything that identifies it.
 *
 * Records attached to neighbours are stored together: trees mostly grow where they last grew, so most
 * look-ups touch memory that the previous ones brought into the caches, whereas a plain hash table would miss
 * each time. Slots come in lines of 8; each group of EDGES_PER_LINE numbers shares a line for the records
 * attached to them. If the line is full, a record is placed in lines by its hash, with open addressing.
 * Nothing is ever removed.
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
    size_t capacity; /* a multiple of EDGES_LINE, above `room` */
    uint32_t room;
};

/* For up to `room` numbers, all below `room`, attached to numbers below `room`. false: out of memory. */
bool edges_init(struct edges *edges, uint32_t room);
void edges_clear(struct edges *edges);
/* The number must not be present yet. */
void edges_put(struct edges *edges, uint32_t from, uint32_t hash, uint32_t number);

/* The slot of probe number `cursor`. Probes after the first line go to lines all over the table, 2^32 / phi apart:
 * where inner nodes of a tree follow each other, as in a merged map, lines are full for a million slots on end, and
 * linear probing would walk through all of them. */
static inline size_t edges_slot(const struct edges *edges, uint32_t from, uint32_t hash, size_t cursor)
{
    if (cursor < EDGES_LINE)
        return (size_t)(from / EDGES_PER_LINE) * EDGES_LINE + cursor;
    uint32_t at = hash + (uint32_t)(cursor / EDGES_LINE - 1) * 0x9e3779b9u;
    return (size_t)((uint64_t)at * (edges->capacity / EDGES_LINE) >> 32) * EDGES_LINE + cursor % EDGES_LINE;
}

/* Returns the numbers stored with this hash, one per call (start with *cursor = 0), then EDGES_NONE. The
 * caller compares the records. */
static inline uint32_t edges_next(const struct edges *edges, uint32_t from, uint32_t hash, size_t *cursor)
{
    for (;;) {
        const struct edge_slot *slot = &edges->slots[edges_slot(edges, from, hash, (*cursor)++)];
        if (slot->number == EDGES_NONE || slot->hash == hash)
            return slot->number;
    }
}

#endif
