#include "api/record/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

#define SAME_SECOND_MAX 1000 /* number of files with the same time in their names */

struct series {
    const char *output;
    const struct log *log;
    size_t kept;
    char **files; /* oldest first */
    size_t count, capacity;
};

struct series *series_new(const char *output, size_t kept, const struct log *log)
{
    struct series *s = calloc(1, sizeof *s);
    if (s)
        *s = (struct series){.output = output, .kept = kept, .log = log};
    return s;
}

void series_free(struct series *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->files[i]);
    free(s->files);
    free(s);
}

/* malloc'd; NULL: out of memory. number: 1 is left out of the name. */
static char *name_of(const struct series *s, const char *time, unsigned number)
{
    char *name;
    int size = number == 1 ? asprintf(&name, "%s.%s", s->output, time)
                           : asprintf(&name, "%s.%s.%u", s->output, time, number);
    return size < 0 ? NULL : name;
}

int series_next(struct series *s, struct outfile **out, struct fathom_error *err)
{
    char text[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    char *name = name_of(s, text, 1);
    for (unsigned number = 2; name && access(name, F_OK) == 0 && number <= SAME_SECOND_MAX; number++) {
        free(name);
        name = name_of(s, text, number);
    }
    if (!name || !vec_push(s->files, s->count, s->capacity, name)) {
        free(name);
        return error_memory(err);
    }
    int rc = outfile_open(name, out, err);
    if (rc < 0)
        series_drop(s);
    return rc;
}

void series_drop(struct series *s)
{
    free(s->files[--s->count]);
}

void series_trim(struct series *s)
{
    size_t gone = s->kept && s->count > s->kept ? s->count - s->kept : 0;
    for (size_t i = 0; i < gone; i++) {
        if (unlink(s->files[i]) != 0 && errno != ENOENT)
            log_write(s->log, LOG_WARNING, "cannot remove %s: %s", s->files[i], strerror(errno));
        free(s->files[i]);
    }
    s->count -= gone;
    memmove(s->files, s->files + gone, s->count * sizeof *s->files);
}
