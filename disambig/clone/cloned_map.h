/*
 * cloned_map.h - the map of a program whose functions have copies (bodies.h), as if each copy were a function of
 * its own: the search works on it.
 *
 * Functions of the cloned map have the numbers of the bodies. Copies have made-up addresses: the map is not for a
 * file. Heights are those of the original; pads are by body.
 */
#ifndef FATHOM_DISAMBIG_CLONE_CLONED_MAP_H
#define FATHOM_DISAMBIG_CLONE_CLONED_MAP_H

#include "disambig/bodies.h"
#include "pathmap/map/pathmap.h"

struct cloned_map {
    struct trie *trie;
    struct pathmap *map; /* over it */
    uint32_t *origins;   /* the original map's node, by node of this one */
    uint32_t *numbers;   /* the node of this map, by the original's node */
    uint32_t *bodies;    /* the body, by the original's node */
};

/* redirectors: by node of the original (redirects.h). -EBADMSG: the map is damaged; -ENOTSUP: it is an old one,
 * which leaves frames out; -ENOMEM. */
int cloned_map_make(const struct pathmap *map, const uint32_t *redirectors, const struct bodies *bodies,
                    struct cloned_map *out, struct fathom_error *err);
void cloned_map_clear(struct cloned_map *cloned); /* zeros are allowed */

#endif
