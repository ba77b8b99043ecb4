/* state.h - what the user of `fathom top` chose, and what it tells besides the rows. */
#ifndef FATHOM_CLI_TOP_STATE_H
#define FATHOM_CLI_TOP_STATE_H

#include "cli/top/rows.h"

#define TOP_TEXT  64  /* bytes of a filter or of what is searched for, with the NUL */
#define TOP_LINES 3   /* of status */
#define TOP_LINE  256 /* bytes of one, with the NUL */

struct top_state {
    enum rows_view view;
    enum rows_sort sort;
    double min_percent;
    char filter[TOP_TEXT], search[TOP_TEXT];
    struct table *folded; /* keys of rows */
    bool paused;
    bool threads;    /* are the roots */
    uint32_t thread; /* the only one shown: an item; FRAMES_NONE: all are */
    char status[TOP_LINES][TOP_LINE];
};

#endif
