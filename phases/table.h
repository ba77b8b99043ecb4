/*
 * table.h - the phases seen so far, each with the mean of its intervals: an interval belongs to the nearest one, if that is
 * near enough, and begins a new one otherwise (the paper's section 4.1).
 *
 * The paper's table has 20 entries, a random one of which is replaced when all are taken; a phase that returns later counts as
 * a new one. An exact table has up to PHASE_TABLE_MOST; when it is full, each interval belongs to the nearest phase, however
 * far.
 */
#ifndef FATHOM_PHASES_TABLE_H
#define FATHOM_PHASES_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "phases/vector.h"

struct phase_table;

#define PHASE_TABLE_PAPER 20u
#define PHASE_TABLE_MOST  512u /* bounds the work for a long recording */

/* threshold: intervals at a smaller distance (0 to 1) are alike. capacity: entries; 0: exact. NULL: out of memory. */
struct phase_table *phase_table_new(double threshold, unsigned capacity);
void phase_table_free(struct phase_table *table); /* NULL is allowed */
/* The phase of an interval, which is added to it. Phases are numbered from 1 in the order in which they are first seen; 0: out
 * of memory. */
uint32_t phase_table_put(struct phase_table *table, const struct phase_vector *interval);

#endif
