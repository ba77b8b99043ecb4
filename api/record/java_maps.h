/*
 * java_maps.h - asks HotSpots to list their code in /tmp/perf-PID.map (`jcmd PID Compiler.perfmap`, JDK 17).
 *
 * A HotSpot answers only its own user and root, and a recorder gives up the rights to act as another user (cli/privilege.c). So a separate
 * process is forked before: it takes PIDs, and runs jcmd (from $PATH) as that process's user, without the recorder's rights, files,
 * terminal and environment. It ends with the recorder.
 */
#ifndef FATHOM_API_RECORD_JAVA_MAPS_H
#define FATHOM_API_RECORD_JAVA_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct java_maps;

#define JAVA_MAPS_SECONDS 10 /* timeout for each */

/* Forks. Call it while there is only one thread. Errors of fork(2). */
int java_maps_new(struct java_maps **out, struct fathom_error *err);
void java_maps_free(struct java_maps *maps); /* waits for its end; NULL is allowed */
/* Waits until the process has written its map. Returns whether it did. */
bool java_maps_ask(struct java_maps *maps, uint32_t pid);

#endif
