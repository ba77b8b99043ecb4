/*
 * inferences.h - reports how far the search for contexts that training never saw got: a line for each limit
 * that was reached.
 */
#ifndef FATHOM_REPORT_VIEWS_INFERENCES_H
#define FATHOM_REPORT_VIEWS_INFERENCES_H

#include <stdint.h>

#include "report/text/printer.h"

/* Contexts (function and height), not samples. */
struct inferences {
    uint64_t open;       /* with a path through a frame without a fixed size */
    uint64_t given_up;   /* not searched: their height is too large */
    uint64_t impossible; /* no path leads to them */
};

void inferences_write(struct printer *printer, const struct inferences *inferences);

#endif
