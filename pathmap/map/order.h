/*
 * order.h - a trie's nodes in path map order: by function, height and function path, so that the candidates
 * of a CID are adjacent (pathmap.h). Private to pathmap/.
 */
#ifndef FATHOM_PATHMAP_MAP_ORDER_H
#define FATHOM_PATHMAP_MAP_ORDER_H

#include "pathmap/map/fmap.h"
#include "pathmap/map/trie_data.h"

struct place_key;

struct order {
    const struct trie *trie;         /* borrowed, like the next */
    const uint32_t *function_number; /* map's number by trie's number; NULL: they are the same */
    uint32_t functions;              /* number of them */
    uint32_t *path;                  /* function path's number by trie's node; the root's is FMAP_NONE */
    uint32_t paths;                  /* number of them */
    struct place_key *places;        /* by the map's node */
    uint32_t *first_node;            /* by the map's function, plus one entry */
    uint32_t *node_number;           /* map's number by trie's node; the root's is FMAP_NONE */
    uint32_t nodes;                  /* in the map, i.e. without the root */
    uint64_t cids;                   /* distinct ones */
    struct fmap_pc *pcs;             /* sorted by the map's node and offset */
    size_t pc_count;
};

/* Orders the trie's nodes. false: out of memory. Free it even on failure. */
bool order_make(struct order *order, const struct trie *trie, const uint32_t *function_number);
void order_clear(struct order *order);
/* Frees what only order_write() needs. */
void order_written(struct order *order);
/* Number of entries in the CID index: 1.5 times the number of CIDs, plus one, so it is never full. */
uint64_t order_index_entries(const struct order *order);
/* Writes the map's nodes, their path numbers and the CID index, whose entries must be zero on entry. */
void order_write(const struct order *order, struct fmap_node *nodes, uint32_t *paths, struct fmap_cid *index);

#endif
