#include "api/doctor/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void rows_add(struct rows *rows, const char *id, const char *title, enum fathom_finding_state state,
              const char *is, ...)
{
    struct fathom_finding row = {.group = rows->group, .id = id, .title = title, .state = state};
    va_list args;
    va_start(args, is);
    char *text = NULL;
    bool good = vasprintf(&text, is, args) >= 0;
    va_end(args);
    row.is = text;
    if (!good || !vec_push(rows->at, rows->count, rows->capacity, row)) {
        if (good)
            free(text);
        rows->failed = true;
    }
}

void rows_text(struct rows *rows, size_t member, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    rows->failed = rows->failed || vasprintf(&text, format, args) < 0;
    va_end(args);
    if (rows->failed)
        return;
    char **to = (char **)((char *)&rows->at[rows->count - 1] + member);
    free(*to);
    *to = text;
}

const struct fathom_finding *rows_find(const struct rows *rows, const char *id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->at[i].id, id) == 0)
            return &rows->at[i];
    return NULL;
}

void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct fathom_finding *f = &rows->at[i];
        const char *const texts[] = {f->is, f->costs, f->mend, f->command};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            free((char *)(uintptr_t)texts[t]);
    }
    free(rows->at);
    *rows = (struct rows){0};
}
