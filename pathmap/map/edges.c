/* edges.c - see edges.h. */
#include "pathmap/map/edges.h"

#include <stdlib.h>
#include <string.h>

bool edges_init(struct edges *e, uint32_t room)
{
    size_t capacity = ((size_t)room / EDGES_PER_LINE + 1) * EDGES_LINE;
    struct edge_slot *slots = malloc(capacity * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, capacity * sizeof *slots);
    *e = (struct edges){slots, capacity, room};
    return true;
}

void edges_clear(struct edges *e)
{
    free(e->slots);
    *e = (struct edges){0};
}

void edges_put(struct edges *e, uint32_t from, uint32_t hash, uint32_t number)
{
    size_t cursor = 0, at;
    while (e->slots[at = edges_slot(e, from, hash, cursor)].number != EDGES_NONE)
        cursor++;
    e->slots[at] = (struct edge_slot){hash, number};
}
