/*
 * screen.h - `fathom top` on a terminal, with ncurses: draws rows, and handles keys.
 *
 * While the screen is open, the output of everything else, such as the observed command, is held back; standard error is printed at the
 * end.
 */
#ifndef FATHOM_CLI_TOP_SCREEN_H
#define FATHOM_CLI_TOP_SCREEN_H

#include "base/error.h"
#include "cli/top/state.h"

struct screen;

/* Errors: -ENOTTY: ncurses does not know this kind of terminal; system errors. */
int screen_open(struct screen **out, struct fathom_error *err);
/* Restores the terminal. NULL is allowed. */
void screen_close(struct screen *screen);

enum screen_wish {
    SCREEN_NOTHING,
    SCREEN_DRAW /* with new rows */,
    SCREEN_CLEAR /* the counters */,
    SCREEN_QUIT
};
/* Handles the keys that were pressed, waiting up to wait_ms for the first one. rows: those drawn last. */
enum screen_wish screen_keys(struct screen *screen, struct top_state *state,
                             const struct fathom_top_rows *rows, int wait_ms);
void screen_draw(struct screen *screen, const struct top_state *state, const struct fathom_top_rows *rows);

#endif
