/*
 * terminal.h - all that Fathom says to a person: messages on standard error, progress lines, colour
 * decisions.
 */
#ifndef FATHOM_CLI_TERMINAL_H
#define FATHOM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"

struct terminal {
    struct log log; /* hand these to the libraries */
    struct progress progress;
    const char *command;    /* prefix of messages: "fathom record" */
    bool quiet, verbose;    /* -q: no notes, no progress; -v: debug messages too */
    bool progress_shown;    /* a progress line stands on the terminal */
    bool stderr_is_person;  /* progress lines make sense */
    uint64_t progress_ns;   /* when it was drawn, monotonic clock */
    struct names *warnings; /* that were said: each is, once; NULL: not kept */
};

void terminal_init(struct terminal *terminal);
void terminal_end(struct terminal *terminal);

/* "fathom record: error: SENTENCE" on standard error. Names in it may be hostile (base/text.h), as in all
 * that is said here. terminal_wrong(): of the command line. */
void terminal_error(struct terminal *terminal, const struct fathom_error *err);
void terminal_wrong(struct terminal *terminal, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_say(struct terminal *terminal, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A text that others wrote, on standard output. */
void terminal_print(const char *text);

/* Draws over the line before, at most 5 times a second; nothing when quiet or not a terminal. */
void terminal_progress(struct terminal *terminal, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_progress_end(struct terminal *terminal);

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
/* Whether `out` gets colour; NO_COLOR is honoured in auto. */
bool terminal_colour(enum colour_when when, FILE *out);
/* Columns of the terminal that `out` is; 0: it is none, or does not know. */
unsigned terminal_width(FILE *out);

#endif
