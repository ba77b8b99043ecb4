/* text.h - a picture of `fathom top` as plain text, for scripts. */
#ifndef FATHOM_CLI_TOP_TEXT_H
#define FATHOM_CLI_TOP_TEXT_H

#include <stdio.h>

#include "base/error.h"
#include "cli/top/state.h"

#define TOP_ROW 1024 /* bytes of a row, with the NUL */
/* A row without its newline: shares, certainty, and the function, indented. */
void top_row_format(char out[TOP_ROW], const struct fathom_top_row *row, uint64_t whole,
                    enum fathom_top_view view);
extern const char top_heading[];
/* Text for a picture without rows. */
const char *top_nothing(const struct top_state *state);

/* Writes the status and at most `most` rows (0: all). 0 or a negative errno. */
int top_text_write(const struct top_state *state, const struct fathom_top_rows *rows, size_t most, FILE *out,
                   struct fathom_error *err);

#endif
