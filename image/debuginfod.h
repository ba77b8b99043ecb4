/*
 * debuginfod.h - files by build-id from the debuginfod servers that the user has set up (debuginfod(8)).
 *
 * Only when the environment names servers (DEBUGINFOD_URLS) is libdebuginfod loaded, at the first question; it
 * is not needed to build or run Fathom. It downloads into a cache of its own and bounds the wait for a server
 * by DEBUGINFOD_TIMEOUT. Each build is asked for once, what there is not also; after a server that did not
 * answer in time nothing is asked any more. For one thread.
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

/* log may be NULL; borrowed. NULL: there are no servers to ask, or out of memory. */
struct debuginfod *debuginfod_new(const struct log *log);
void debuginfod_free(struct debuginfod *servers); /* NULL is allowed */

/* The path of the file of this build, malloc'd, the caller's; its build-id was checked. NULL: no server has it
 * or it cannot be had, which is told to the log; also when `servers` is NULL or the build-id is empty. */
char *debuginfod_find(struct debuginfod *servers, enum debuginfod_kind kind, const struct build_id *id);

#endif
