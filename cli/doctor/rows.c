/* rows.c - see rows.h. */
#include "cli/doctor/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void rows_add(struct rows *rows, const char *id, const char *title, enum row_state state, const char *is, ...)
{
    struct row row = {.group = rows->group, .id = id, .title = title, .state = state};
    va_list args;
    va_start(args, is);
    bool good = vasprintf(&row.is, is, args) >= 0;
    va_end(args);
    if (!good)
        row.is = NULL;
    if (!good || !vec_push(rows->at, rows->count, rows->room, row)) {
        free(row.is);
        rows->failed = true;
    }
}

/* Sets a text of the last row. */
static void say_more(struct rows *rows, size_t member, const char *format, va_list args)
{
    char *text;
    if (rows->failed || vasprintf(&text, format, args) < 0) {
        rows->failed = true;
        return;
    }
    char **to = (char **)((char *)&rows->at[rows->count - 1] + member);
    free(*to);
    *to = text;
}

void rows_costs(struct rows *rows, const char *costs, ...)
{
    va_list args;
    va_start(args, costs);
    say_more(rows, offsetof(struct row, costs), costs, args);
    va_end(args);
}

void rows_mend(struct rows *rows, const char *mend, ...)
{
    va_list args;
    va_start(args, mend);
    say_more(rows, offsetof(struct row, mend), mend, args);
    va_end(args);
}

void rows_command(struct rows *rows, const char *command, ...)
{
    va_list args;
    va_start(args, command);
    say_more(rows, offsetof(struct row, command), command, args);
    va_end(args);
}

unsigned rows_counted(const struct rows *rows, enum row_state state)
{
    unsigned count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += rows->at[i].state == state;
    return count;
}

const struct row *rows_find(const struct rows *rows, const char *id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->at[i].id, id) == 0)
            return &rows->at[i];
    return NULL;
}

void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->at[i].is);
        free(rows->at[i].costs);
        free(rows->at[i].mend);
        free(rows->at[i].command);
    }
    free(rows->at);
    *rows = (struct rows){0};
}
