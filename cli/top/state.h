/* state.h - the choices of the user of `fathom top`, and its status lines. */
#ifndef FATHOM_CLI_TOP_STATE_H
#define FATHOM_CLI_TOP_STATE_H

#include "api/fathom.h"
#include "base/hash.h"

#define TOP_TEXT  64  /* bytes of a filter or a search text, with the NUL */
#define TOP_LINES 3   /* of status */
#define TOP_LINE  256 /* bytes of one, with the NUL */

struct top_state {
    struct fathom_top_show show; /* its filter is the next one; sort: FATHOM_TOP_SORTS: not chosen */
    char filter[TOP_TEXT], search[TOP_TEXT];
    struct table *folded; /* keys of rows */
    bool paused;
    const char *thread_name; /* of show.thread, unless that is FATHOM_TOP_ALL */
    char status[TOP_LINES][TOP_LINE];
};

/* The order of rows: unless chosen, flat functions are sorted by their own weight, as in a report. */
static inline enum fathom_top_sort top_sort(const struct top_state *state)
{
    return state->show.sort != FATHOM_TOP_SORTS  ? state->show.sort
           : state->show.view == FATHOM_TOP_FLAT ? FATHOM_TOP_BY_SELF
                                                 : FATHOM_TOP_BY_TOTAL;
}

#endif
