/*
 * options.h - what the sub-commands' option parsers share: strict numbers, PID lists, usage errors.
 *
 * Each sub-command parses with getopt_long into an options struct of its own.
 */
#ifndef FATHOM_CLI_OPTIONS_H
#define FATHOM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"

/* A whole decimal number in [low, high]. On failure says so
 * on the terminal (naming the option) and returns false. */
bool option_number(struct terminal *terminal, const char *option, const char *text, uint64_t low,
                   uint64_t high, uint64_t *out);
/* A decimal fraction in [low, high]. */
bool option_fraction(struct terminal *terminal, const char *option, const char *text, double low, double high,
                     double *out);
/* "12,34", or "12 34" as pidof(1) prints: adds to *pids (realloc'ed). */
bool option_pids(struct terminal *terminal, const char *option, const char *text, pid_t **pids,
                 size_t *count);

/* Prints "fathom CMD: error: SENTENCE" and where to find help; returns EXIT_USAGE. */
int option_usage(struct terminal *terminal, const struct command *command, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the command's --help on standard output; returns EXIT_OK. */
int option_help(const struct command *command);

#endif
