/*
 * java_maps.h - asks HotSpots to write what code they have (`jcmd PID Compiler.perfmap`, JDK 17), to their /tmp/perf-PID.map.
 *
 * A HotSpot answers its own user and root alone, and a recorder gives up the rights to act as another user (cli/privilege.c). So a process of its
 * own does it, which is forked before: it takes PIDs, and runs jcmd, of $PATH, as that process's user, without this one's rights,
 * files, terminal and environment. It ends with the recorder.
 */
#ifndef FATHOM_API_RECORD_JAVA_MAPS_H
#define FATHOM_API_RECORD_JAVA_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct java_maps;

#define JAVA_MAPS_SECONDS 10 /* for each; then it is given up */

/* Forks. To be called while there is one thread. Errors of fork(2). */
int java_maps_new(struct java_maps **out, struct fathom_error *err);
void java_maps_free(struct java_maps *maps); /* waits for its end; NULL is allowed */
/* Whether the process wrote its map, for which this waits. */
bool java_maps_ask(struct java_maps *maps, uint32_t pid);

#endif
