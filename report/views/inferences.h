/*
 * inferences.h - reports how far the search for contexts that training never saw got: a line for each limit
 * that was reached.
 */
#ifndef FATHOM_REPORT_VIEWS_INFERENCES_H
#define FATHOM_REPORT_VIEWS_INFERENCES_H

#include <stdint.h>

#include "report/text/printer.h"

/* Contexts (function and height), not samples, but for what was cut. */
struct inferences {
    uint64_t open;       /* with a path through a frame without a fixed size */
    uint64_t given_up;   /* not searched: their height is too large */
    uint64_t impossible; /* no path leads to them */
    uint64_t cut;   /* samples whose paths were not looked for in full: that would have taken too much work */
    uint64_t steps; /* that looking took */
};

void inferences_write(struct printer *printer, const struct inferences *inferences);

#endif
