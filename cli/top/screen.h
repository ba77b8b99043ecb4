/*
 * screen.h - `fathom top` in a terminal, by ncurses: draws the rows, and takes the keys.
 *
 * While the screen is open, whatever else writes to standard output and standard error, as the observed command does, is
 * kept aside; what was written to standard error comes out at the end.
 */
#ifndef FATHOM_CLI_TOP_SCREEN_H
#define FATHOM_CLI_TOP_SCREEN_H

#include "base/error.h"
#include "cli/top/state.h"

struct screen;

/* Errors: -ENOTTY: ncurses does not know this kind of terminal; system errors. */
int screen_open(struct screen **out, struct fathom_error *err);
/* Gives the terminal back as it was. NULL is allowed. */
void screen_close(struct screen *screen);

enum screen_wish {
    SCREEN_NOTHING,
    SCREEN_DRAW /* with new rows */,
    SCREEN_CLEAR /* the counters */,
    SCREEN_QUIT
};
/* Takes the keys that were pressed, waiting up to wait_ms for the first one. rows: those drawn last. */
enum screen_wish screen_keys(struct screen *screen, struct top_state *state,
                             const struct fathom_top_rows *rows, int wait_ms);
void screen_draw(struct screen *screen, const struct top_state *state, const struct fathom_top_rows *rows);

#endif
