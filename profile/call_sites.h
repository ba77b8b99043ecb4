/*
 * call_sites.h - where the functions of a path call one another.
 *
 * The nodes of a map say where each was called. A path that was unwound has its node's sites. One whose stack was found to be a
 * known one has these, or others that the comparison cannot distinguish from them (collector/verify/rule.h). For any other path
 * only the functions are known: it can have the sites of any node of the map with the CID and the same functions, as such nodes
 * differ only in sites and in heights of callers. If training or the recording saw some of these nodes, only those count.
 */
#ifndef FATHOM_PROFILE_CALL_SITES_H
#define FATHOM_PROFILE_CALL_SITES_H

#include "pathmap/map/pathmap.h"

#define CALL_SITES_MOST  8    /* sites per step; beyond this number, they are not distinguished */
#define CALL_SITES_NODES 1024 /* nodes examined; a path with more has several sites everywhere */

/* Which sites a path can have. */
enum path_sites {
    PATH_SITES_ANY,   /* those of any node with the CID and functions */
    PATH_SITES_ALIKE, /* the node's, or indistinguishable ones (alike_calls.h) */
    PATH_SITES_OWN,   /* the node's */
};

/* From one function of a path to the next. */
struct call_step {
    uint64_t sites[CALL_SITES_MOST]; /* return addresses in the caller's image, each once; 0: unknown */
    uint32_t count;
    bool own;  /* this is the path's site; if not, it may be an indistinguishable one (alike_calls.h) */
    bool more; /* there may be others */
};

struct call_sites {
    struct call_step *steps; /* from the root inwards: one fewer than functions */
    size_t count, capacity;
};

/* Fills all of *out (initialise with zeros, free with call_sites_clear()). 0, -ENOMEM, -EBADMSG (the map is damaged). */
int call_sites_find(struct call_sites *out, const struct pathmap *map, uint32_t node, enum path_sites whose,
                    struct fathom_error *err);
void call_sites_clear(struct call_sites *sites);

#endif
