/*
 * cloned_map.h - the map of a program whose functions have copies (bodies.h), as if each copy was a function of its own: what the
 * search works on.
 *
 * Functions of the cloned map have the numbers of the bodies. Copies have made-up addresses: the map is not for a file.
 * Heights are those of the original; pads are for bodies.
 */
#ifndef FATHOM_DISAMBIG_CLONE_CLONED_MAP_H
#define FATHOM_DISAMBIG_CLONE_CLONED_MAP_H

#include "disambig/bodies.h"
#include "pathmap/map/pathmap.h"

struct cloned_map {
    struct trie *trie;
    struct pathmap *map; /* over it */
    uint32_t *origins;   /* for each of its nodes: that of the original map */
    uint32_t *numbers;   /* for each node of the original map: that of this one */
    uint32_t *bodies;    /* for each node of the original map: its body */
};

/* redirectors: of the original's nodes (redirects.h). -EBADMSG: the map is damaged;
 * -ENOTSUP: it is an old one, which leaves frames out; -ENOMEM. */
int cloned_map_make(const struct pathmap *map, const uint32_t *redirectors, const struct bodies *bodies,
                    struct cloned_map *out, struct fathom_error *err);
void cloned_map_clear(struct cloned_map *cloned); /* zeros are allowed */

#endif
