/*
 * functions.h - the weight of each function (or other item) over all contexts. Private to report/.
 *
 * A function's total is the weight of the samples that have it anywhere on their path. Recursion does not
 * count twice: on each path only the outermost frame counts.
 */
#ifndef FATHOM_REPORT_VIEWS_FUNCTIONS_H
#define FATHOM_REPORT_VIEWS_FUNCTIONS_H

#include "report/views/branches.h"

struct function_weight {
    uint64_t self, error, total;
    uint32_t item;
    uint32_t owner; /* of a FRAME_LINE: the item of its function; FRAMES_NONE: several, or it is not a line */
};

struct functions {
    struct function_weight *at; /* heaviest self first; those without self weight at the end, by total */
    uint32_t count;
};

/* branches: arranged; all items must be in `frames`. */
int functions_of(const struct branches *branches, const struct frames *frames, struct functions *functions,
                 struct fathom_error *err);
void functions_clear(struct functions *functions);

#endif
