/* archived.h - an archive of `fathom archive` as input: unpacked for as long as the command runs. */
#ifndef FATHOM_API_ARCHIVED_H
#define FATHOM_API_ARCHIVED_H

#include "base/error.h"
#include "image/kernel/running.h"

struct archived;

/* Makes a directory to unpack into, if the file begins like an archive; else *out is NULL. Call it before rights are given up. */
int archived_begin(const char *input, struct archived **out, struct fathom_error *err);
/* Unpacks it. Errors of unpack(). Does nothing for NULL. */
int archived_unpack(struct archived *archived, struct fathom_error *err);
void archived_close(struct archived *archived); /* removes its files; NULL is allowed */

/* The directory that it is unpacked into; NULL for NULL. */
const char *archived_directory(const struct archived *archived);
/* The recording to read; for NULL, `input` itself. */
const char *archived_recording(const struct archived *archived, const char *input);
/* The root directory for paths: `symfs` unless that is NULL. */
const char *archived_root(const struct archived *archived, const char *symfs);
/* Checks such a directory, as with a missing one no image could be read. NULL is allowed. */
int archived_check_root(const char *symfs, struct fathom_error *err);
/* The directory of cached maps; NULL: the user's. */
const char *archived_kept(const struct archived *archived);
/* The map's file, and its name for the heading: as `given` by the user, else the archive's; NULL: none. */
const char *archived_map(const struct archived *archived, const char *given);
const char *archived_map_name(const struct archived *archived, const char *given);
/* The recorded kernel's names; for NULL, those of the running one. NULL: out of memory. */
struct running_kernel *archived_kernel(const struct archived *archived);

#endif
