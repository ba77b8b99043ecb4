/* worth.h - what it is worth that a node is precise, as a share of a map. */
#ifndef FATHOM_DISAMBIG_SEARCH_WORTH_H
#define FATHOM_DISAMBIG_SEARCH_WORTH_H

#include "pathmap/map/pathmap.h"

#define WORTH_ALL ((int64_t)1 << 44) /* of all nodes together */

/* What precise samples, calls and nodes are worth of it. A CID's samples in one run foretell those of another only if there
 * are many; calls and paths keep the search from giving up what had none by chance. */
#define WORTH_SHARE_WEIGHT 0.8
#define WORTH_SHARE_CALLS  0.1
#define WORTH_SHARE_PATHS  0.1

/* What it costs that all calls of the map execute instructions which were added, as a share of all value. */
#define WORTH_CALLS 1.0

struct worth {
    double samples, calls, nodes; /* of the map */
};

struct worth worth_of_map(const struct pathmap *map);
/* new_path: no other node of the same CID has its path. */
int64_t worth_of_node(const struct worth *worth, const struct pathmap_node *node, bool new_path);

#endif
