/*
 * statics.h - the calls that the binaries show (image/calls.h), between the functions of a trie: edges for
 * the automaton where training saw nothing.
 *
 * Direct calls, calls of other images by symbol (an IFUNC's choices all), and what their targets jump to in
 * their stead. Left out: indirect calls whose target nothing tells, and calls from frames without a fixed
 * size.
 */
#ifndef FATHOM_INFER_STATICS_H
#define FATHOM_INFER_STATICS_H

#include "image/cache.h"
#include "pathmap/trie.h"

struct static_edge {
    uint32_t callee, caller; /* functions of the trie */
    uint32_t rise;           /* bytes from the caller's CFA down to the callee's */
    uint64_t site;           /* the return address in the caller's image */
};

/* A function that ends by a jump to another, which then runs in its place: who calls `from` calls `to`. */
struct static_jump {
    uint32_t from, to;
};

struct statics { /* malloc'ed: statics_free() */
    struct static_edge *edges;
    size_t count, room;
    struct static_jump *jumps;
    size_t jump_count, jump_room;
};

/* Of all images in the cache, whose functions are added to the trie. 0 or -ENOMEM. */
int statics_build(struct trie *trie, const struct image_cache *images, struct statics *out,
                  struct fathom_error *err);
void statics_free(struct statics *statics);

#endif
