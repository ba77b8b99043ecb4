/*
 * call_sites.h - where the functions of a path call one another.
 *
 * The nodes of a map say where each was called. A path that was unwound has the sites of its node. One whose stack was found to be a known
 * one has these, or such that the comparison does not tell from them (collector/verify/rule.h). Of any other the functions
 * are known: it can have the sites of any node of the map with the CID and the same functions, as these differ only in sites
 * and in heights of callers: of such nodes that training or the recording saw, or of all if it saw none.
 */
#ifndef FATHOM_PROFILE_CALL_SITES_H
#define FATHOM_PROFILE_CALL_SITES_H

#include "pathmap/map/pathmap.h"

#define CALL_SITES_MOST  8    /* of a step that are told apart */
#define CALL_SITES_NODES 1024 /* that are looked at; a path with more has several sites everywhere */

/* Whose the sites are. */
enum path_sites {
    PATH_SITES_ANY,   /* those of any node with the CID and functions */
    PATH_SITES_ALIKE, /* the node's, or some that are alike (alike_calls.h) */
    PATH_SITES_OWN,   /* the node's */
};

/* From one function of a path to the next. */
struct call_step {
    uint64_t sites[CALL_SITES_MOST]; /* return addresses in the caller's image, 0: unknown; different ones */
    uint32_t count;
    bool own;  /* this is the path's; otherwise it may be one that is alike (alike_calls.h) */
    bool more; /* there may be others */
};

struct call_sites {
    struct call_step *steps; /* from the root inwards: one less than functions */
    size_t count, capacity;
};

/* Fills all of *out (initialise with zeros, free with call_sites_clear()). 0, -ENOMEM, -EBADMSG (the map is damaged). */
int call_sites_find(struct call_sites *out, const struct pathmap *map, uint32_t node, enum path_sites whose,
                    struct fathom_error *err);
void call_sites_clear(struct call_sites *sites);

#endif
