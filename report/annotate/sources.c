/* sources.c - see sources.h. */
#include "report/annotate/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/plain_path.h"
#include "base/vec.h"

struct source {
    struct file_view view;
    uint32_t *starts; /* of lines */
    size_t count, capacity;
};

struct sources {
    const char *symfs;
    struct names *names;
    struct source *files; /* by number of the name; empty: cannot be read */
    size_t count, capacity;
};

struct sources *sources_new(const char *symfs)
{
    struct sources *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->symfs = symfs;
    s->names = names_new();
    if (!s->names) {
        free(s);
        return NULL;
    }
    return s;
}

void sources_free(struct sources *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        file_view_close(&s->files[i].view);
        free(s->files[i].starts);
    }
    free(s->files);
    names_free(s->names);
    free(s);
}

bool sources_may_show(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_size <= (off_t)SOURCE_BYTES_MOST &&
           (geteuid() != 0 || status->st_mode & S_IROTH);
}

static int open_source(const struct sources *s, const char *file, struct file_view *view)
{
    struct fathom_error err;
    char *below = s->symfs ? plain_path_below_root(file) : NULL, *path = NULL;
    if (s->symfs && (!below || asprintf(&path, "%s/%s", s->symfs, below) < 0)) {
        free(below);
        return -1;
    }
    free(below);
    int rc = file_view_open(path ? path : file, view, &err);
    free(path);
    return rc;
}

/* Leaves the source empty if it cannot be read or is not text. */
static void read_source(const struct sources *s, const char *file, struct source *out)
{
    struct fathom_error err;
    struct file_view *view = &out->view;
    struct stat st;
    if (open_source(s, file, view) < 0) {
        *view = (struct file_view){.fd = -1};
        return;
    }
    bool good = fstat(view->fd, &st) == 0 && (s->symfs || sources_may_show(&st)) &&
                view->size <= SOURCE_BYTES_MOST && file_view_need(view, 0, view->size, &err) == 0 &&
                !(view->size && memchr(view->data, 0, view->size));
    for (size_t at = 0; good && at < view->size;) {
        const uint8_t *end = memchr(view->data + at, '\n', view->size - at);
        good = vec_push(out->starts, out->count, out->capacity, (uint32_t)at);
        at = end ? (size_t)(end - view->data) + 1 : view->size;
    }
    if (good) {
        file_view_settle(view);
        return;
    }
    file_view_close(view);
    out->count = 0;
}

const char *sources_line(struct sources *s, const char *file, uint32_t line, size_t *length)
{
    uint32_t number = names_intern(s->names, file);
    if (number == NAMES_NONE)
        return NULL;
    if (number == s->count) {
        if (!vec_push(s->files, s->count, s->capacity, (struct source){.view.fd = -1}))
            return NULL;
        read_source(s, file, &s->files[number]);
    }
    const struct source *source = number < s->count ? &s->files[number] : NULL;
    if (!source || line == 0 || line > source->count)
        return NULL;
    size_t start = source->starts[line - 1];
    size_t end = line < source->count ? source->starts[line] : source->view.size;
    while (end > start && (source->view.data[end - 1] == '\n' || source->view.data[end - 1] == '\r'))
        end--;
    *length = end - start;
    return (const char *)source->view.data + start;
}
