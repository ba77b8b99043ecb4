/* pack.c - see pack.h; archive_write(3). */
#include "archive/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive/libarchive.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/vec.h"

struct member {
    char *path; /* NULL: the bytes */
    void *data;
};

struct pack {
    struct manifest manifest;
    struct member *members; /* the manifest's files */
    size_t count, capacity;
};

struct pack *pack_new(void)
{
    return calloc(1, sizeof(struct pack));
}

void pack_free(struct pack *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        free(p->members[i].path);
        free(p->members[i].data);
    }
    free(p->members);
    manifest_free(&p->manifest);
    free(p);
}

/* Receives the pieces of a member. */
typedef int take_piece(void *context, const void *data, size_t size, struct fathom_error *err);

#define PIECE ((size_t)1 << 20)

static int read_pieces(const char *path, uint64_t *size, take_piece *take, void *context,
                       struct fathom_error *err)
{
    struct file_view view;
    int rc = file_view_open(path, &view, err);
    if (rc < 0)
        return rc;
    for (size_t at = 0; rc == 0 && at < view.size; at += PIECE) {
        size_t n = view.size - at < PIECE ? view.size - at : PIECE;
        rc = file_view_need(&view, at, n, err);
        if (rc == 0)
            rc = take(context, view.data + at, n, err);
    }
    *size = view.size;
    file_view_close(&view);
    return rc;
}

static int sum_piece(void *context, const void *data, size_t size, struct fathom_error *err)
{
    (void)err;
    checksum_add(context, data, size);
    return 0;
}

static int sum_file(const char *path, struct manifest_file *file, struct fathom_error *err)
{
    struct checksum *sum = checksum_begin();
    int rc = sum ? read_pieces(path, &file->size, sum_piece, sum, err) : error_memory(err);
    file->sum = checksum_end(sum);
    return rc;
}

int pack_add(struct pack *p, const char *name, const struct pack_source *source, const char *from,
             struct fathom_error *err)
{
    struct member member = {0};
    struct manifest_file file = {(char *)(uintptr_t)name, source->size, 0, (char *)(uintptr_t)from};
    if (manifest_find(&p->manifest, name))
        return 0;
    if (!vec_reserve(p->members, p->count, p->capacity, 1))
        return error_memory(err);
    int rc = 0;
    if (source->path) {
        rc = sum_file(source->path, &file, err);
        member.path = strdup(source->path);
    } else {
        file.sum = checksum_of(source->data, source->size);
        member.data = malloc(source->size + 1);
        if (member.data && source->size)
            memcpy(member.data, source->data, source->size);
    }
    if (rc == 0)
        rc = member.path || member.data ? manifest_add(&p->manifest, &file, err) : error_memory(err);
    if (rc == 0) {
        p->members[p->count++] = member;
        return 0;
    }
    free(member.path);
    free(member.data);
    return rc;
}

int pack_map(struct pack *p, const char *name, struct fathom_error *err)
{
    free(p->manifest.map);
    p->manifest.map = strdup(name);
    return p->manifest.map ? 0 : error_memory(err);
}

size_t pack_count(const struct pack *p, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < p->manifest.count; i++)
        *bytes += p->manifest.files[i].size;
    return p->manifest.count;
}

/* Writing -------------------------------------------------------------------------------------------------------- */

struct writing {
    struct archive *archive;
    const char *output;
    struct checksum *sum;
};

static int fail_writing(const struct writing *w, struct fathom_error *err)
{
    int code = la.archive_errno(w->archive);
    return code > 0 && code < 4096
               ? error_system(err, code, "cannot write %s", w->output)
               : error_set(err, EIO, "cannot write %s: %s", w->output, la.archive_error_string(w->archive));
}

static int write_head(const struct writing *w, const char *name, uint64_t size, struct fathom_error *err)
{
    struct archive_entry *entry = la.archive_entry_new();
    if (!entry)
        return error_memory(err);
    la.archive_entry_set_pathname(entry, name);
    la.archive_entry_set_size(entry, (int64_t)size);
    la.archive_entry_set_filetype(entry, AE_IFREG);
    la.archive_entry_set_perm(entry, 0644);
    int rc = la.archive_write_header(w->archive, entry) == ARCHIVE_OK ? 0 : fail_writing(w, err);
    la.archive_entry_free(entry);
    return rc;
}

/* A take_piece. */
static int write_piece(void *context, const void *data, size_t size, struct fathom_error *err)
{
    const struct writing *w = context;
    checksum_add(w->sum, data, size);
    return la.archive_write_data(w->archive, data, size) == (la_ssize_t)size ? 0 : fail_writing(w, err);
}

static int write_member(struct writing *w, const struct member *member, const struct manifest_file *file,
                        struct fathom_error *err)
{
    uint64_t size = file->size;
    int rc = write_head(w, file->name, file->size, err);
    if (rc < 0)
        return rc;
    w->sum = checksum_begin();
    if (!w->sum)
        return error_memory(err);
    rc = member->path ? read_pieces(member->path, &size, write_piece, w, err)
                      : write_piece(w, member->data, (size_t)size, err);
    uint64_t sum = checksum_end(w->sum);
    if (rc == 0 && (size != file->size || sum != file->sum))
        rc = error_set(err, ESTALE, "%s changed while it was read: try again", member->path);
    return rc;
}

static int write_members(const struct pack *p, struct writing *w, struct fathom_error *err)
{
    size_t size;
    char *text = manifest_format(&p->manifest, &size);
    if (!text)
        return error_memory(err);
    int rc = write_head(w, MANIFEST_NAME, size, err);
    if (rc == 0 && la.archive_write_data(w->archive, text, size) != (la_ssize_t)size)
        rc = fail_writing(w, err);
    free(text);
    for (size_t i = 0; rc == 0 && i < p->count; i++)
        rc = write_member(w, &p->members[i], &p->manifest.files[i], err);
    return rc;
}

int pack_write(const struct pack *p, int fd, const char *output, struct fathom_error *err)
{
    struct writing w = {.output = output};
    int rc = libarchive_load(err);
    if (rc < 0)
        return rc;
    w.archive = la.archive_write_new();
    if (!w.archive)
        return error_memory(err);
    rc = la.archive_write_set_format_pax_restricted(w.archive) == ARCHIVE_OK &&
                 la.archive_write_add_filter_zstd(w.archive) == ARCHIVE_OK &&
                 la.archive_write_open_fd(w.archive, fd) == ARCHIVE_OK
             ? 0
             : fail_writing(&w, err);
    if (rc == 0)
        rc = write_members(p, &w, err);
    if (rc < 0)
        la.archive_write_fail(w.archive);
    else if (la.archive_write_close(w.archive) != ARCHIVE_OK)
        rc = fail_writing(&w, err);
    la.archive_write_free(w.archive);
    return rc;
}
