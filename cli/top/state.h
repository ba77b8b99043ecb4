/* state.h - what the user of `fathom top` chose, and what it tells besides the rows. */
#ifndef FATHOM_CLI_TOP_STATE_H
#define FATHOM_CLI_TOP_STATE_H

#include "api/fathom.h"
#include "base/hash.h"

#define TOP_TEXT  64  /* bytes of a filter or of what is searched for, with the NUL */
#define TOP_LINES 3   /* of status */
#define TOP_LINE  256 /* bytes of one, with the NUL */

struct top_state {
    enum fathom_top_view view;
    enum fathom_top_sort sort; /* FATHOM_TOP_SORTS: not chosen */
    double min_percent;
    char filter[TOP_TEXT], search[TOP_TEXT];
    struct table *folded; /* keys of rows */
    bool paused;
    bool threads;    /* are the roots */
    uint32_t thread; /* the only one shown: an item; FATHOM_TOP_ALL: all are */
    const char *thread_name;
    char status[TOP_LINES][TOP_LINE];
};

/* By what it is sorted: if that was not chosen, functions by their own weight, as in a report. */
static inline enum fathom_top_sort top_sort(const struct top_state *state)
{
    return state->sort != FATHOM_TOP_SORTS  ? state->sort
           : state->view == FATHOM_TOP_FLAT ? FATHOM_TOP_BY_SELF
                                            : FATHOM_TOP_BY_TOTAL;
}

#endif
