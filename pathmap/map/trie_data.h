/*
 * trie_data.h - the internals of a trie, for the files that build it and write it out.
 *
 * Memory per node: 32 bytes for the node and an 8-byte slot in the edge table, which is up to 5/8 full, and
 * half that after it has grown: 45 to 58 bytes, so 10 million nodes take at most 580 MB. Invariant: a node's
 * parent has a smaller number and (except for the root) a smaller height. Sample positions take at least 16
 * bytes per distinct position.
 */
#ifndef FATHOM_PATHMAP_MAP_TRIE_DATA_H
#define FATHOM_PATHMAP_MAP_TRIE_DATA_H

#include "base/hash.h"
#include "pathmap/map/edges.h"
#include "pathmap/map/numbers.h"
#include "pathmap/map/trials.h"
#include "pathmap/map/trie.h"

struct trie_node {
    uint32_t parent, function, height;
    uint32_t site; /* 0: unknown */
    uint64_t passes, self;
};
_Static_assert(sizeof(struct trie_node) == 32, "ten million nodes must be feasible");

struct trie_function {
    uint64_t address;
    uint32_t image;
    uint32_t name; /* in names; NAMES_NONE if unknown */
};

struct trie_image {
    struct build_id build_id;
    uint32_t path; /* in names */
    bool hooked, entered;
};

struct trie {
    struct trie_node *nodes; /* nodes[0] is the root: its function is TRIE_NONE */
    uint32_t node_count, node_capacity;
    struct edges edges; /* nodes by (parent, function, height, site); has the same room */

    struct trie_function *functions;
    uint32_t function_count, function_capacity;
    struct numbers by_address; /* functions by (image, address) */

    struct trie_image *images;
    uint32_t image_count, image_capacity;
    bool any_hooked;
    bool leaves_out;         /* trie_leave_out() */
    struct numbers by_build; /* images by build-id or path */

    struct table *pcs; /* node << 32 | offset -> samples */
    struct names *names;
    struct trie_statistics statistics;
    struct trials trials;
};

#endif
