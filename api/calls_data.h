/* calls_data.h - private to calls.c, which counts, and calls_text.c, which prints: a command whose calls are counted. */
#ifndef FATHOM_API_CALLS_DATA_H
#define FATHOM_API_CALLS_DATA_H

#include "api/fathom/calls.h"
#include "api/hooks/hooked.h"
#include "api/hooks/phased.h"
#include "base/outfile.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/train/harvest.h"
#include "profile/counted.h"

#define PATHS_EACH 4.0 /* counters per 1/eps: a context has several paths, by call sites */

/* The last reading of the counts. */
struct reading {
    struct harvest harvest;
    struct trie *trie;
    struct pathmap *map;
    struct counted *counted;
    struct trie *scaled; /* with phases: underlies the map */
};

struct fathom_calls {
    struct fathom_calls_options options;
    struct host host;
    struct hooked hooked;
    struct phased *phased; /* NULL: hooks do not follow phases */
    struct image_cache *images;
    struct outfile *out;         /* the saved tree; NULL: none */
    uint64_t began, began_ticks; /* ns; the time-stamp counter */
    bool ended;                  /* the command */
    struct reading reading;
};

static inline bool calls_space_saving(const struct fathom_calls_options *o)
{
    return o->counter == FATHOM_CALLS_LSS || o->counter == FATHOM_CALLS_BSS;
}

#endif
