/* rows.h - a list of findings, which owns their texts. */
#ifndef FATHOM_API_DOCTOR_ROWS_H
#define FATHOM_API_DOCTOR_ROWS_H

#include "api/fathom/doctor.h"

struct rows {
    struct fathom_finding *at; /* owned, with `is` and the texts after it */
    size_t count, capacity;
    const char *group; /* of the rows that are added next */
    bool failed;       /* out of memory: rows are missing */
};

/* Adds a row; the next three functions add a text to the last row. */
void rows_add(struct rows *rows, const char *id, const char *title, enum fathom_finding_state state,
              const char *is, ...) __attribute__((format(printf, 5, 6)));
void rows_costs(struct rows *rows, const char *costs, ...) __attribute__((format(printf, 2, 3)));
void rows_mend(struct rows *rows, const char *mend, ...) __attribute__((format(printf, 2, 3)));
/* A command that mends it. */
void rows_command(struct rows *rows, const char *command, ...) __attribute__((format(printf, 2, 3)));
/* NULL: no row has this id. */
const struct fathom_finding *rows_find(const struct rows *rows, const char *id);
void rows_free(struct rows *rows);

#endif
