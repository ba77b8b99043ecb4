/* worth.h - the worth of a node's being precise, as a share of a map. */
#ifndef FATHOM_DISAMBIG_SEARCH_WORTH_H
#define FATHOM_DISAMBIG_SEARCH_WORTH_H

#include "pathmap/map/pathmap.h"

#define WORTH_ALL ((int64_t)1 << 44) /* of all nodes together */

/* How it is divided among samples, calls and nodes. A CID's samples in one run predict those of another only if
 * there are many; calls and paths keep the search from sacrificing CIDs that have none by chance. */
#define WORTH_SHARE_WEIGHT 0.8
#define WORTH_SHARE_CALLS  0.1
#define WORTH_SHARE_PATHS  0.1

/* The cost if all calls of the map execute added instructions, as a share of all value. */
#define WORTH_CALLS 1.0

struct worth {
    double samples, calls, nodes; /* of the map */
};

struct worth worth_of_map(const struct pathmap *map);
/* new_path: no other node of the CID has its path. */
int64_t worth_of_node(const struct worth *worth, const struct pathmap_node *node, bool new_path);

#endif
