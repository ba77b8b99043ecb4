/*
 * failures.h - which files of the spool could not be put into the store, and whether the file itself is the
 * cause. A file is to blame if it fails while the store accepts others. So of a file's failures between two
 * successes of others only one counts: while the store is down, each file gets at most one, however often all
 * fail.
 */
#ifndef FATHOM_AGENT_FAILURES_H
#define FATHOM_AGENT_FAILURES_H

#include <stdbool.h>

#include "agent/spool.h"

struct failures;

struct failures *failures_new(void); /* NULL: out of memory */
void failures_free(struct failures *failures);
/* FAILED_TO_REMOVE: it is in the store, so the file is not to blame. */
enum failed { FAILED_TO_READ, FAILED_TO_SHIP, FAILED_TO_REMOVE };
/* Returns how often this file has failed. */
unsigned failures_note(struct failures *failures, const char *name, enum failed what);
/* Notes that another file was put into the store. */
void failures_settle(struct failures *failures);
unsigned failures_of(const struct failures *failures, const char *name);
/* Whether the file is to blame: it could not be read 3 times, or failed for other reasons 12 times. In the
 * latter case the store may only accept some of what it gets: if it accepts two thirds, one good file in 500,000
 * is blamed. */
bool failures_blame(const struct failures *failures, const char *name);
void failures_forget(struct failures *failures, const char *name);
/* Forgets all files not in the spool: trimmed, or removed by somebody else. */
void failures_keep(struct failures *failures, const struct spool *spool);

#endif
