/*
 * adding.h - adds a sample to a profile's tree: to which paths, by the profile's ambiguity.
 */
#ifndef FATHOM_PROFILE_ADDING_H
#define FATHOM_PROFILE_ADDING_H

#include "profile/profile_data.h"

/* What became of it is in its outcome. */
int adding_sample(struct profile *profile, const struct adding *adding, struct fathom_error *err);

#endif
