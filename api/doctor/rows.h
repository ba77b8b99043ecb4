/* rows.h - a list of findings, which owns their texts. */
#ifndef FATHOM_API_DOCTOR_ROWS_H
#define FATHOM_API_DOCTOR_ROWS_H

#include <stddef.h>

#include "api/fathom/doctor.h"

struct rows {
    struct fathom_finding *at; /* owned, with `is` and the texts after it */
    size_t count, capacity;
    const char *group; /* of the rows that are added next */
    bool failed;       /* out of memory: rows are missing */
};

void rows_add(struct rows *rows, const char *id, const char *title, enum fathom_finding_state state,
              const char *is, ...) __attribute__((format(printf, 5, 6)));
/* Sets a text of the last row, by its offset. */
void rows_text(struct rows *rows, size_t member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define rows_costs(rows, ...)   rows_text(rows, offsetof(struct fathom_finding, costs), __VA_ARGS__)
#define rows_mend(rows, ...)    rows_text(rows, offsetof(struct fathom_finding, mend), __VA_ARGS__)
#define rows_command(rows, ...) rows_text(rows, offsetof(struct fathom_finding, command), __VA_ARGS__)
/* NULL: no row has this id. */
const struct fathom_finding *rows_find(const struct rows *rows, const char *id);
void rows_free(struct rows *rows);

#endif
