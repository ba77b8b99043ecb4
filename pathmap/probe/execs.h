/*
 * execs.h - checks whether the runtime will be loaded into programs that this one executes, and reports to the
 * trainer if not.
 */
#ifndef FATHOM_PATHMAP_PROBE_EXECS_H
#define FATHOM_PATHMAP_PROBE_EXECS_H

#include <stdbool.h>

/* The session's directory, which must stay in place, and the environment that this program was started with.
 */
void execs_start(const char *directory, char *const *environment);
/* `name` is about to be executed; search: along PATH. Preserves errno. */
void execs_look(const char *name, bool search, char *const *environment);
/* The same for an open file. */
void execs_look_at(int fd, char *const *environment);

#endif
