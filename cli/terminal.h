/* terminal.h - Fathom's messages to the user: errors and notes on standard error, progress lines; whether to use colour. */
#ifndef FATHOM_CLI_TERMINAL_H
#define FATHOM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/fathom.h"
#include "base/error.h"
#include "base/log.h"

struct command; /* cli/command.h */

struct terminal {
    struct fathom_listener listener; /* for libfathom */
    const char *command;             /* prefix of messages: "fathom record" */
    const struct command *parsed;    /* whose options were parsed last; NULL: none yet */
    bool quiet, verbose;             /* -q: no notes, no progress; -v: debug messages too */
    bool no_pager;                   /* --no-pager */
    struct pager *pager;             /* cli/pager.h; NULL: none */
    bool progress_shown;             /* a progress line is on the screen */
    bool stderr_is_person;           /* it is a terminal, which can show progress lines */
    uint64_t progress_ns;            /* when it was drawn, monotonic clock */
    struct names *warnings;          /* those printed so far, to print each once; NULL: not tracked */
};

void terminal_init(struct terminal *terminal);
void terminal_end(struct terminal *terminal);

/* Print "fathom record: error: SENTENCE" on standard error; terminal_wrong() is for errors in the command line. Names in this and all other
 * messages may be hostile (base/text.h). */
void terminal_error(struct terminal *terminal, const struct fathom_error *err);
void terminal_wrong(struct terminal *terminal, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_say(struct terminal *terminal, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints untrusted text on standard output. */
void terminal_print(const char *text);

/* Redraws the progress line, at most 5 times a second; does nothing if quiet or not on a terminal. */
void terminal_progress(struct terminal *terminal, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_progress_end(struct terminal *terminal);

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
/* Whether `out` gets colour; NO_COLOR is honoured in auto. */
bool terminal_colour(enum colour_when when, FILE *out);
/* Width of the terminal behind `out` in columns; 0: not a terminal, or unknown. */
unsigned terminal_width(FILE *out);

#endif
