/*
 * inferences.h - how far the search for contexts that training never saw went, told to the reader: a line for
 * each limit that was met.
 */
#ifndef FATHOM_REPORT_VIEWS_INFERENCES_H
#define FATHOM_REPORT_VIEWS_INFERENCES_H

#include <stdint.h>

#include "report/text/printer.h"

/* Contexts (function and height), not samples. */
struct inferences {
    uint64_t open;       /* with a path through a frame of no fixed size */
    uint64_t given_up;   /* not looked for: they stand too high */
    uint64_t impossible; /* that no path leads to */
};

void inferences_write(struct printer *printer, const struct inferences *inferences);

#endif
