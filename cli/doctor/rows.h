/*
 * rows.h - what `fathom doctor` found out: a row for each fact, with what it costs and how to mend it.
 *
 * Text may be hostile (names of files): it is cleaned where it is printed.
 */
#ifndef FATHOM_CLI_DOCTOR_ROWS_H
#define FATHOM_CLI_DOCTOR_ROWS_H

#include <stdbool.h>
#include <stddef.h>

enum row_state {
    ROW_OK,
    ROW_NOTE,  /* good to know, costs nothing or little */
    ROW_LIMIT, /* Fathom works, but with less */
    ROW_FAIL,  /* what was asked for cannot be done */
    ROW_STATES
};

struct row {
    const char *group; /* words in the JSON that do not change: the group, ... */
    const char *id;    /* ... and the row */
    const char *title; /* for people */
    enum row_state state;
    char *is, *costs, *mend, *command; /* owned; NULL but `is`: nothing to say */
};

struct rows {
    struct row *at; /* owned */
    size_t count, room;
    const char *group; /* of the rows that are added */
    bool failed;       /* out of memory: rows are missing */
};

/* Adds a row; the others say more of the last one. */
void rows_add(struct rows *rows, const char *id, const char *title, enum row_state state, const char *is, ...)
    __attribute__((format(printf, 5, 6)));
void rows_costs(struct rows *rows, const char *costs, ...) __attribute__((format(printf, 2, 3)));
void rows_mend(struct rows *rows, const char *mend, ...) __attribute__((format(printf, 2, 3)));
/* A line for the shell that mends it. */
void rows_command(struct rows *rows, const char *command, ...) __attribute__((format(printf, 2, 3)));
unsigned rows_counted(const struct rows *rows, enum row_state state);
/* NULL: there is no such row. */
const struct row *rows_find(const struct rows *rows, const char *id);
void rows_free(struct rows *rows);

#endif
