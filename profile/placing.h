/*
 * placing.h - adds a sample's weight to one path of a profile's tree.
 *
 * Where each path ends in the tree is kept, so that a sample with a known path costs one look-up. Such a *place* is a
 * member of `places` or `others` of the profile; NULL: the path is not kept.
 */
#ifndef FATHOM_PROFILE_PLACING_H
#define FATHOM_PROFILE_PLACING_H

#include "profile/profile_data.h"

/* Whether the path of a sample goes on with who ended that wait. */
bool placing_woken(const struct profile *profile, const struct sample *sample);
/* Whether a path of user code alone determines its place in the tree. */
bool placing_plain_user(const struct profile *profile);
/* Whether a sample's path alone does. */
bool placing_plain(const struct profile *profile, const struct adding *adding);

/* Of these three, *node is where the path ends: NULL in bounded memory and if the filter leaves it out. */
/* To a kept path. 0: it is not kept, or no longer there; 1: it was added, or the filter leaves it out; -ENOMEM. */
int placing_known(struct profile *profile, const struct adding *adding, const uint64_t *place,
                  struct cct_node **node, struct fathom_error *err);
/* To the path that was framed, which is ended by this, and kept. */
int placing_framed(struct profile *profile, const struct adding *adding, uint64_t *place,
                   struct cct_node **node, struct fathom_error *err);
/* To a node of the map. */
int placing_node(struct profile *profile, const struct adding *adding, uint32_t map_node,
                 struct cct_node **node, struct fathom_error *err);

#endif
