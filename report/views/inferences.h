/*
 * inferences.h - reports the limits that the search for contexts that training never saw reached, a line for each.
 */
#ifndef FATHOM_REPORT_VIEWS_INFERENCES_H
#define FATHOM_REPORT_VIEWS_INFERENCES_H

#include <stdint.h>

#include "report/text/printer.h"

/* Counts of contexts (function and height), except for `cut`. */
struct inferences {
    uint64_t open;       /* with a path through a frame without a fixed size */
    uint64_t given_up;   /* not searched: their height is too large */
    uint64_t impossible; /* no path leads to them */
    uint64_t
        cut; /* samples whose paths were not searched completely, as that would have taken too much work */
    uint64_t steps; /* work of the search */
};

void inferences_write(struct printer *printer, const struct inferences *inferences);

#endif
