/*
 * placing.h - adds a sample's weight to one path of a profile's tree.
 *
 * The node at which each path ends is cached, so that a sample with a known path costs one look-up. The cache entry, *place, is
 * in `places` or `others` of the profile; NULL: the path is not cached.
 */
#ifndef FATHOM_PROFILE_PLACING_H
#define FATHOM_PROFILE_PLACING_H

#include "profile/profile_data.h"

/* Whether the sample is a wait whose path continues with who ended it. */
bool placing_woken(const struct profile *profile, const struct sample *sample);
/* Whether a path of user code alone determines its place in the tree. */
bool placing_plain_user(const struct profile *profile);
/* Whether the sample's path alone does. */
bool placing_plain(const struct profile *profile, const struct adding *adding);

/* The next three set *node to the end of the path: NULL in bounded memory and if the filter excludes it. */
/* Adds to a cached path. 0: it is not cached, or no longer valid; 1: it was added, or the filter excludes it; -ENOMEM. */
int placing_known(struct profile *profile, const struct adding *adding, const uint64_t *place,
                  struct cct_node **node, struct fathom_error *err);
/* Ends the path that was framed, adds to it, and caches it. */
int placing_framed(struct profile *profile, const struct adding *adding, uint64_t *place,
                   struct cct_node **node, struct fathom_error *err);
/* Adds to the path of a node of the map. */
int placing_node(struct profile *profile, const struct adding *adding, uint32_t map_node,
                 struct cct_node **node, struct fathom_error *err);

#endif
