/*
 * input.h - private to perfdata/: the bytes of a recording, from a file or from a pipe (read to its end).
 *
 * A file is read, not mapped: if another process truncates it meanwhile, a mapping would raise SIGBUS. It is read from start to
 * end into blocks that are reused, so that a long recording takes no more memory than its longest round.
 */
#ifndef FATHOM_PERFDATA_INPUT_H
#define FATHOM_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct input_block;

struct input {
    size_t size;     /* bytes, when it was opened */
    uint8_t *spool;  /* everything from a pipe, or from input_append(); NULL: a file */
    size_t capacity; /* bytes allocated for that */
    int fd;
    char *path;                 /* for messages; NULL: not open */
    struct input_block *blocks; /* of a file: those with bytes still in use, newest first */
    struct input_block *unused;
    const uint8_t *data; /* the newest block's bytes: [from, to) */
    uint64_t from, to;
};

#define INPUT_BLOCK   ((size_t)1 << 20)  /* bytes read at a time */
#define INPUT_LARGEST ((size_t)64 << 10) /* the most bytes per request: those of a record */

/* "-" is standard input. A pipe that does not start like perf.data is rejected at once: -ENOMSG. */
int input_open(const char *path, struct input *input, struct fathom_error *err);
/* An initially empty input in memory that grows. -ENOMEM. */
int input_begin(struct input *input, struct fathom_error *err);
int input_append(struct input *input, const void *data, size_t size, struct fathom_error *err);
void input_close(struct input *input); /* may be zeroed */

/* A recording that is a directory (tools/perf/util/data.c): the file "data", like other recordings, and from perf record --threads
 * "data.0", "data.1", ..., with records only. The copies of the kernel's code that --kcore adds are not read. */
bool input_is_directory(const char *path);
/* Opens all of them. The caller closes *data and *parts, and frees *parts, even on failure. -ENOMSG: there is no "data", or one
 * of them is not a regular file. */
int input_open_directory(const char *path, struct input *data, struct input **parts, size_t *count,
                         struct fathom_error *err);

/* Copies bytes from anywhere inside the input to `out`. -EBADMSG: the file was truncated meanwhile. */
int input_read(const struct input *input, uint64_t offset, size_t size, void *out, struct fathom_error *err);

/* Restarts the walk from start to end. */
void input_rewind(struct input *input);
int input_fill(struct input *input, uint64_t offset, size_t size, struct fathom_error *err);
/* The next bytes, at most INPUT_LARGEST, inside the input; offsets never decrease. *out is valid until
 * input_pass() moves beyond it, and has the alignment of `offset`. -EBADMSG as above. */
static inline int input_take(struct input *input, uint64_t offset, size_t size, const uint8_t **out,
                             struct fathom_error *err)
{
    if (offset < input->from || offset + size > input->to) {
        int rc = input_fill(input, offset, size, err);
        if (rc < 0)
            return rc;
    }
    *out = input->data + (offset - input->from);
    return 0;
}
/* Bytes taken from before this offset are no longer in use. */
void input_pass(struct input *input, uint64_t offset);

#endif
