/*
 * options.h - a command's options as one table: name, argument, help, and where the value goes.
 *
 * Each command has a struct for the values; each row has the offset of its member. The OPTION_ macros below make rows and check the
 * member's type. A new option is one row, its member, and its lines in the man page (a test compares these with --help).
 */
#ifndef FATHOM_CLI_OPTIONS_H
#define FATHOM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"

/* Entries of tables whose names an option takes begin with the name, which is NULL in the last one. */
struct option_word {
    const char *word;
    int value;
};
struct option_entry {
    const char *name;
    const char *help; /* a few words; NULL: the name is enough */
};

struct option_row {
    const char *name;     /* of the long option; NULL: the row is only a line of text in --help */
    char letter;          /* of the short option; 0: none */
    const char *argument; /* its name in --help; NULL: the option takes none */
    /* Stores the argument at `value`. false: it was invalid, which has been reported. */
    bool (*take)(struct terminal *terminal, const struct option_row *row, char *argument, void *value);
    size_t at; /* of `value` in the command's struct, bytes */
    union {    /* parameters of `take` */
        struct {
            uint64_t low, high;
        } whole;
        struct {
            double low, high;
        } fraction;
        struct {
            const void *at; /* entries like struct option_word, or that begin like struct option_entry */
            size_t size;    /* of an entry, bytes */
        } table;
    };
    const char *help; /* wrapped for --help; '\n' forces a line break */
};

/* Parses all options up to the first operand (argv[optind]), or with `anywhere` also those after it. Returns -1 to continue, else the exit
 * code: help or an error was printed. */
int options_parse(const struct command *command, void *values, bool anywhere, int argc, char **argv,
                  struct terminal *terminal);
/* The number of words after "--"; -1: no "--". Call it before options_parse(), which reorders them. */
int option_words_after(int argc, char **argv);
/* Prints "fathom CMD: error: SENTENCE" and a pointer to the --help of the command whose options were parsed; returns EXIT_USAGE. */
int option_usage(struct terminal *terminal, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints the command's --help on standard output; returns EXIT_OK. */
int option_help(const struct command *command);

/* Prints a text from column `at`, wrapped at `width`, with the following lines indented. '\n' forces a line break. */
struct option_filling {
    size_t width, indent, at; /* columns */
};
void option_fill(const char *text, const struct option_filling *how);

/* Functions for `take`, by the type at `value`. */
typedef bool option_take(struct terminal *terminal, const struct option_row *row, char *argument,
                         void *value);
option_take option_flag;     /* bool: true */
option_take option_text;     /* const char *: the argument */
option_take option_number;   /* uint64_t: decimal, from whole.low to whole.high */
option_take option_set;      /* uint64_t: whole.low */
option_take option_fraction; /* double: decimal, from fraction.low to fraction.high */
option_take option_choice;   /* an enum: the value of one of `table` */
option_take option_choices;  /* an unsigned: a bit for each value of `table` that is listed with commas */
option_take option_table;    /* a pointer: to the entry of `table` with that name */
option_take option_entries;  /* an unsigned: a bit for each entry of `table` that is listed with commas */
option_take option_names;  /* struct option_names: "main,walk*"; adds to them, and splits the text in place */
option_take option_images; /* struct option_names: likewise, prefixes of file names without directories */
option_take option_pids;   /* struct option_pids: "12,34", or "12 34" as pidof(1) prints; adds to them */
option_take option_quiet;  /* sets the terminal's, like the next two */
option_take option_verbose;
option_take option_no_pager;

struct option_pids {
    pid_t *pids; /* the caller frees it */
    size_t count, capacity;
};

struct option_names {
    const char **at; /* the caller frees it, not the names */
    size_t count, capacity;
};

/* The name of the entry of the row's table after the one of this name, or of the first one for NULL. NULL: the end, or it has no table. */
const char *const *option_next(const struct option_row *row, const char *const *name);

extern const struct option_word option_colours[]; /* of an enum colour_when */

/* Offset of a member, which must have that type. */
#define OPTION_AT(type, member, of) (offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (of *)0))

/* 0. Checks that the type begins like struct option_entry. */
#define OPTION_ENTRIES(of)                                                                                   \
    (0 * sizeof(char[offsetof(of, name) == 0 && offsetof(of, help) == sizeof(char *) ? 1 : -1]))

/* clang-format off */
#define OPTION_FLAG(name, letter, type, member, text) \
    {name, letter, NULL, option_flag, OPTION_AT(type, member, bool), .help = (text)}
#define OPTION_TEXT(name, letter, argument, type, member, text) \
    {name, letter, argument, option_text, OPTION_AT(type, member, const char *), .help = (text)}
#define OPTION_NUMBER(name, letter, argument, low, high, type, member, text) \
    {name, letter, argument, option_number, OPTION_AT(type, member, uint64_t), .whole = {low, high}, .help = (text)}
#define OPTION_SET(name, number, type, member, text) \
    {name, 0, NULL, option_set, OPTION_AT(type, member, uint64_t), .whole = {number, 0}, .help = (text)}
#define OPTION_FRACTION(name, letter, argument, low, high, type, member, text) \
    {name, letter, argument, option_fraction, OPTION_AT(type, member, double), .fraction = {low, high}, .help = (text)}
#define OPTION_CHOICE(name, letter, argument, list, of, type, member, text) \
    {name, letter, argument, option_choice, OPTION_AT(type, member, of), .table = {list, sizeof(struct option_word)}, .help = (text)}
#define OPTION_CHOICES(name, letter, argument, list, type, member, text) \
    {name, letter, argument, option_choices, OPTION_AT(type, member, unsigned), .table = {list, sizeof(struct option_word)}, .help = (text)}
/* --help lists the table's entries after the text. */
#define OPTION_TABLE(name, letter, argument, list, of, type, member, text) \
    {name, letter, argument, option_table, OPTION_AT(type, member, const of *) + OPTION_ENTRIES(of), \
     .table = {list, sizeof(of)}, .help = (text)}
#define OPTION_TABLE_BITS(name, letter, argument, list, of, type, member, text) \
    {name, letter, argument, option_entries, OPTION_AT(type, member, unsigned) + OPTION_ENTRIES(of), \
     .table = {list, sizeof(of)}, .help = (text)}
#define OPTION_PIDS(name, letter, argument, type, member, text) \
    {name, letter, argument, option_pids, OPTION_AT(type, member, struct option_pids), .help = (text)}
#define OPTION_NAMES(name, argument, type, member, text) \
    {name, 0, argument, option_names, OPTION_AT(type, member, struct option_names), .help = (text)}
#define OPTION_IMAGES(type, member, text) \
    {"image", 0, "NAME,...", option_images, OPTION_AT(type, member, struct option_names), .help = (text)}
/* The struct has an `enum colour_when colour`, a `bool wide`. */
#define OPTION_COLOUR(type) \
    OPTION_CHOICE("color", 0, "WHEN", option_colours, enum colour_when, type, colour, "auto, always or never")
#define OPTION_WIDE(type) \
    OPTION_FLAG("wide", 0, type, wide, "names in full, also where they are longer than the terminal is wide")
/* `take` gets the command's whole struct. */
#define OPTION_OWN(name, letter, argument, taker, text) {name, letter, argument, taker, 0, .help = (text)}
#define OPTION_LINE(text)    {.help = (text)}
#define OPTION_QUIET(text)   {"quiet", 'q', NULL, option_quiet, .help = (text)}
#define OPTION_VERBOSE(text) {"verbose", 'v', NULL, option_verbose, .help = (text)}
#define OPTION_PAGER         {"no-pager", 0, NULL, option_no_pager, .help = "print to the terminal, without a pager"}
#define OPTION_HELP          {"help", 'h', .help = "this text"}
#define OPTION_END           {0}
/* clang-format on */

#endif
