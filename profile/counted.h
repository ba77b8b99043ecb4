/* counted.h - contexts whose calls were all counted: those of a path map whose nodes have their weight in `self`. */
#ifndef FATHOM_PROFILE_COUNTED_H
#define FATHOM_PROFILE_COUNTED_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "profile/contexts.h"

struct counted_options {
    bool time;      /* weights are ticks of a clock, not numbers of calls */
    double tick;    /* ns per tick */
    uint64_t bound; /* a node of the map may lack this much, */
    uint64_t lost;  /* and all together do lack this much */
    /* share of the whole weight: lighter contexts are dropped, and so are those that do not exceed the bound; 0: none is */
    double phi;
};

struct counted;

/* Adds up the nodes of each path of functions. map and images are borrowed until counted_free(), options copied.
 * -ENOMEM; -EBADMSG: the map is damaged. */
int counted_new(const struct pathmap *map, struct image_cache *images, const struct counted_options *options,
                struct counted **out, struct fathom_error *err);
void counted_free(struct counted *counted); /* NULL is allowed */
/* The contexts; the root's own weight is that of the dropped ones. */
void counted_contexts(const struct counted *counted, struct contexts *out);
uint64_t counted_weight(const struct counted *counted); /* of all contexts, in calls or ns */
size_t counted_hot(const struct counted *counted);      /* contexts that were not dropped */

#endif
