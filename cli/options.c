#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/exit.h"
#include "cli/pager.h"

bool option_flag(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)t, (void)row, (void)argument;
    *(bool *)value = true;
    return true;
}

bool option_quiet(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)row, (void)argument, (void)value;
    t->quiet = true;
    t->listener.status = NULL;
    return true;
}

bool option_verbose(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)row, (void)argument, (void)value;
    t->verbose = t->listener.verbose = true;
    return true;
}

bool option_no_pager(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)row, (void)argument, (void)value;
    t->no_pager = true;
    return true;
}

bool option_text(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)t, (void)row;
    *(const char **)value = argument;
    return true;
}

static bool take_whole(struct terminal *t, const char *name, const char *text, uint64_t low, uint64_t high,
                       uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < low || value > high) {
        terminal_wrong(t, "--%s: '%s' is not a whole number from %llu to %llu", name, text,
                       (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    *out = value;
    return true;
}

bool option_number(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    return take_whole(t, row->name, argument, row->whole.low, row->whole.high, value);
}

bool option_set(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    (void)t, (void)argument;
    *(uint64_t *)value = row->whole.low;
    return true;
}

/* Formats the number without an exponent: 0.000000001, not 1e-09. */
static const char *plain_number(double value, char text[static 32])
{
    int length = snprintf(text, 32, "%.9f", value);
    while (length > 0 && text[length - 1] == '0')
        text[--length] = 0;
    if (length > 0 && text[length - 1] == '.')
        text[length - 1] = 0;
    return text;
}

bool option_fraction(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    char *end;
    errno = 0;
    double number = strtod(argument, &end), low = row->fraction.low, high = row->fraction.high;
    char lowest[32], highest[32];
    if (errno || end == argument || *end || !(number >= low && number <= high)) {
        terminal_wrong(t, "--%s: '%s' is not a number from %s to %s", row->name, argument,
                       plain_number(low, lowest), plain_number(high, highest));
        return false;
    }
    *(double *)value = number;
    return true;
}

/* Appends one of several alternatives: "tree, callers or flat". */
static void list_append(char *list, size_t size, const char *text, bool last)
{
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length == 0 ? "" : last ? " or " : ", ", text);
}

const struct option_word option_colours[] = {
    {"auto", COLOUR_AUTO}, {"always", COLOUR_ALWAYS}, {"never", COLOUR_NEVER}, {0}};

const char *const *option_next(const struct option_row *row, const char *const *name)
{
    if (row->take != option_choice && row->take != option_choices && row->take != option_table &&
        row->take != option_entries)
        return NULL;
    const char *at = name ? (const char *)name + row->table.size : row->table.at;
    name = (const char *const *)(const void *)at;
    return *name ? name : NULL;
}

/* Finds the entry with the name; else prints which names there are. listed: several can be given. */
static const void *find_entry(struct terminal *t, const struct option_row *row, const char *name, bool listed)
{
    char all[256] = "";
    for (const char *const *e = option_next(row, NULL), *const *next; e; e = next) {
        next = option_next(row, e);
        if (strcmp(name, *e) == 0)
            return e;
        list_append(all, sizeof all, *e, !next);
    }
    terminal_wrong(t, "--%s takes %s%s, not '%s'", row->name, all, listed ? ", or several with commas" : "",
                   name);
    return NULL;
}

bool option_choice(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    const struct option_word *w = find_entry(t, row, argument, false);
    if (w)
        memcpy(value, &w->value, sizeof w->value); /* enums have the size of an int */
    return w;
}

bool option_choices(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    unsigned all = 0;
    for (char *word; (word = strsep(&argument, ",")) != NULL;) {
        const struct option_word *w = find_entry(t, row, word, true);
        if (!w)
            return false;
        all |= 1u << w->value;
    }
    memcpy(value, &all, sizeof all);
    return true;
}

bool option_table(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    const void *e = find_entry(t, row, argument, false);
    if (e)
        memcpy(value, &e, sizeof e);
    return e;
}

bool option_entries(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    unsigned all = 0;
    for (char *name; (name = strsep(&argument, ",")) != NULL;) {
        const void *e = find_entry(t, row, name, true);
        if (!e)
            return false;
        all |= 1u << (size_t)((const char *)e - (const char *)row->table.at) / row->table.size;
    }
    memcpy(value, &all, sizeof all);
    return true;
}

bool option_names(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    struct option_names *to = value;
    for (char *name; (name = strsep(&argument, ",")) != NULL;) {
        if (!*name)
            return terminal_wrong(t, "--%s: an empty name", row->name), false;
        if (!vec_push(to->at, to->count, to->capacity, name))
            return false;
    }
    return true;
}

bool option_images(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    struct option_names *to = value;
    size_t before = to->count;
    if (!option_names(t, row, argument, value))
        return false;
    for (size_t i = before; i < to->count; i++)
        if (strchr(to->at[i], '/'))
            return terminal_wrong(t, "--%s takes prefixes of file names, without directories, not '%s'",
                                  row->name, to->at[i]),
                   false;
    return true;
}

#define BLANKS " \t\n"

bool option_pids(struct terminal *t, const struct option_row *row, char *argument, void *value)
{
    struct option_pids *to = value;
    const char *at = argument + strspn(argument, BLANKS);
    if (!*at)
        return terminal_wrong(t, "--%s: no number was given", row->name), false;
    for (;;) {
        char part[32];
        int length = (int)strcspn(at, "," BLANKS);
        uint64_t number;
        snprintf(part, sizeof part, "%.*s", length, at);
        if (!length)
            return terminal_wrong(t, "--%s: a number is missing before or after a comma of '%s'", row->name,
                                  argument),
                   false;
        if ((size_t)length >= sizeof part)
            return terminal_wrong(t, "--%s: '%s...' is no number", row->name, part), false;
        if (!take_whole(t, row->name, part, 1, INT_MAX, &number) ||
            !vec_push(to->pids, to->count, to->capacity, (pid_t)number))
            return false;
        at += length;
        at += strspn(at, BLANKS);
        if (!*at)
            return true;
        if (*at == ',')
            at += 1 + strspn(at + 1, BLANKS);
    }
}

#define ROWS_MAX 64
#define FIRST    0x100 /* what getopt_long returns for the first row; above all letters */

static size_t row_count(const struct command *command)
{
    size_t count = 0;
    while (count < ROWS_MAX && (command->options[count].name || command->options[count].help))
        count++;
    return count;
}

int options_parse(const struct command *command, void *values, bool anywhere, int argc, char **argv,
                  struct terminal *terminal)
{
    const struct option_row *rows = command->options;
    struct option longs[ROWS_MAX + 1];
    char shorts[2 * ROWS_MAX + 2];
    size_t count = row_count(command), named = 0, at = 0;
    terminal->parsed = command;
    if (!anywhere)
        shorts[at++] = '+';
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].name)
            continue;
        longs[named++] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                         NULL, (int)(FIRST + i)};
        if (rows[i].letter)
            shorts[at++] = rows[i].letter;
        if (rows[i].letter && rows[i].argument)
            shorts[at++] = ':';
    }
    longs[named] = (struct option){0};
    shorts[at] = 0;
    int found;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        size_t i = found >= FIRST ? (size_t)(found - FIRST) : 0;
        while (found < FIRST && i < count && rows[i].letter != (char)found)
            i++;
        if (i == count) /* '?': getopt printed the error */
            return option_usage(terminal, NULL);
        if (!rows[i].take)
            return option_help(command);
        if (!rows[i].take(terminal, &rows[i], optarg, (char *)values + rows[i].at))
            return option_usage(terminal, NULL);
    }
    if (command->paged)
        pager_start(terminal);
    return -1;
}

int option_words_after(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return argc - i - 1;
    return -1;
}

int option_usage(struct terminal *t, const char *fmt, ...)
{
    if (fmt) {
        char text[512];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        terminal_wrong(t, "%s", text);
    }
    if (t->parsed == &help_command)
        fprintf(stderr, "Try 'fathom help'.\n");
    else
        fprintf(stderr, "Try 'fathom %s --help'.\n", t->parsed->name);
    return EXIT_USAGE;
}

/* --help ----------------------------------------------------------------------------------------------------- */

#define HELP_WIDTH  100
#define HELP_INDENT 25 /* column of the descriptions */

void option_fill(const char *text, const struct option_filling *how)
{
    size_t at = how->at, indent = how->indent;
    for (bool first = true; *text; first = false) {
        size_t length = strcspn(text, " \n");
        bool begins = first || text[-1] == '\n';
        if (!begins && at + 1 + length > how->width) {
            putchar('\n');
            at = 0;
            begins = true;
        }
        if (at < indent)
            at += (size_t)printf("%*s", (int)(indent - at), "");
        else if (!begins)
            at += (size_t)printf(" ");
        at += (size_t)printf("%.*s", (int)length, text);
        text += length;
        if (*text == '\n') {
            putchar('\n');
            at = 0;
        }
        text += *text != 0;
    }
    putchar('\n');
}

static void print_filled(const char *text, size_t indent, size_t at)
{
    option_fill(text, &(struct option_filling){.width = HELP_WIDTH, .indent = indent, .at = at});
}

/* The help text; of a table, followed by its entries. */
static const char *row_help(const struct option_row *row, char *text, size_t size)
{
    if (row->take != option_table && row->take != option_entries)
        return row->help;
    char entries[1024] = "";
    for (const char *const *name = option_next(row, NULL), *const *next; name; name = next) {
        const struct option_entry *e = (const struct option_entry *)(const void *)name;
        char one[128];
        next = option_next(row, name);
        snprintf(one, sizeof one, e->help ? "%s (%s)" : "%s", e->name, e->help);
        list_append(entries, sizeof entries, one, !next);
    }
    snprintf(text, size, "%s%s", row->help, entries);
    return text;
}

static void print_row(const struct option_row *row)
{
    char help[2048];
    size_t at = row->letter ? (size_t)printf("  -%c, --%s", row->letter, row->name)
                            : (size_t)printf("      --%s", row->name);
    if (row->argument)
        at += (size_t)printf(" %s", row->argument);
    if (at + 1 > HELP_INDENT)
        at += (size_t)printf(" ");
    print_filled(row_help(row, help, sizeof help), HELP_INDENT, at);
}

int option_help(const struct command *command)
{
    const char *line = command->synopsis, *end;
    for (bool first = true; *line; line = *end ? end + 1 : end, first = false) {
        end = line + strcspn(line, "\n");
        printf("%s fathom %s%s%.*s\n", first ? "usage:" : "      ", command->name, *line ? " " : "",
               (int)(end - line), line);
    }
    if (command->about) {
        putchar('\n');
        print_filled(command->about, 0, 0);
    }
    if (command->options[0].name)
        putchar('\n');
    for (size_t i = 0; i < row_count(command); i++) {
        const struct option_row *row = &command->options[i];
        if (row->name) {
            print_row(row);
        } else {
            putchar('\n');
            print_filled(row->help, 0, 0);
            putchar('\n');
        }
    }
    if (command->notes) {
        putchar('\n');
        print_filled(command->notes, 0, 0);
    }
    return EXIT_OK;
}
