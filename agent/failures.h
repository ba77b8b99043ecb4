/*
 * failures.h - which files of the spool could not be put into the store, and whether that is their own fault.
 *
 * A file is at fault if it fails while the store takes others. So of all its failures between two successes of others one counts:
 * however often all files fail while the store is down, that is one at most for each of them.
 */
#ifndef FATHOM_AGENT_FAILURES_H
#define FATHOM_AGENT_FAILURES_H

#include <stdbool.h>

#include "agent/spool.h"

struct failures;

struct failures *failures_new(void); /* NULL: out of memory */
void failures_free(struct failures *failures);
/* FAILED_TO_REMOVE: it is in the store, and nobody's fault there. */
enum failed { FAILED_TO_READ, FAILED_TO_SHIP, FAILED_TO_REMOVE };
/* Returns how often this file has failed. */
unsigned failures_note(struct failures *failures, const char *name, enum failed what);
/* Another file was put into the store. */
void failures_settle(struct failures *failures);
unsigned failures_of(const struct failures *failures, const char *name);
/* Whether it is the file's fault: it could not be read 3 times, or failed for other reasons 12 times. The latter may be a store that takes only
 * some of what it gets: of two thirds, one good file in 500,000 is taken for a bad one. */
bool failures_blame(const struct failures *failures, const char *name);
void failures_forget(struct failures *failures, const char *name);
/* Forgets all files but those of the spool: what was trimmed, or somebody else removed. */
void failures_keep(struct failures *failures, const struct spool *spool);

#endif
