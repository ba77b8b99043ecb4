/*
 * debuginfod.h - gets files by build-id from the user's debuginfod servers (debuginfod(8)).
 *
 * libdebuginfod is loaded at the first query, and only if the environment names servers (DEBUGINFOD_URLS); it
 * is not needed to build or run Fathom. It downloads into its own cache and bounds the wait for a server by
 * DEBUGINFOD_TIMEOUT. Each build is requested once, even if unavailable; after a server timed out nothing
 * more is requested. Not thread-safe.
 */
#ifndef FATHOM_IMAGE_DEBUGINFOD_H
#define FATHOM_IMAGE_DEBUGINFOD_H

#include "base/log.h"
#include "image/elf/build_id.h"

struct debuginfod;

enum debuginfod_kind {
    DEBUGINFOD_DEBUG_FILE,
    DEBUGINFOD_IMAGE, /* the program or library itself */
};

/* log may be NULL; borrowed. NULL: no servers are configured, or out of memory. */
struct debuginfod *debuginfod_new(const struct log *log);
void debuginfod_free(struct debuginfod *servers); /* NULL is allowed */

/* The path of the file of this build, malloc'd, the caller's; its build-id has been checked. NULL: no server
 * has it, or it could not be fetched, which is logged; also if `servers` is NULL or the build-id is empty. */
char *debuginfod_find(struct debuginfod *servers, enum debuginfod_kind kind, const struct build_id *id);

#endif
