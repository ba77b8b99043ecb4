/*
 * table.h - the phases that were seen, each by the mean of its intervals: an interval belongs to the nearest one, if that is near
 * enough, and begins a new one otherwise (the paper's section 4.1).
 *
 * The paper's table has 20 entries, of which a random one is replaced when all are taken; a phase that returns after that is
 * taken for a new one. An exact table keeps all, up to
 * PHASE_TABLE_MOST: then each interval belongs to the nearest, however far.
 */
#ifndef FATHOM_PHASES_TABLE_H
#define FATHOM_PHASES_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "phases/vector.h"

struct phase_table;

#define PHASE_TABLE_PAPER 20u
#define PHASE_TABLE_MOST  512u /* so that the work of a long recording is bounded */

/* threshold: intervals at a lesser distance (0 to 1) are alike. capacity: entries; 0: exact. NULL: out of memory. */
struct phase_table *phase_table_new(double threshold, unsigned capacity);
void phase_table_free(struct phase_table *table); /* NULL is allowed */
/* The phase of an interval, which joins it. Phases are numbered from 1 in the order in which they are first seen; 0: out of memory. */
uint32_t phase_table_put(struct phase_table *table, const struct phase_vector *interval);

#endif
