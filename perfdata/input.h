/*
 * input.h - private to perfdata/: a whole recording in memory, from a file (mapped) or from a pipe (read to
 * its end).
 */
#ifndef FATHOM_PERFDATA_INPUT_H
#define FATHOM_PERFDATA_INPUT_H

#include "base/file.h"

struct input {
    const uint8_t *data; /* 8-byte aligned */
    size_t size;
    struct file_view view; /* of a file */
    uint8_t *spool;        /* what a pipe gave */
};

/* "-" is standard input. A pipe that does not start as perf.data does is left at once: -ENOMSG. */
int input_open(const char *path, struct input *input, struct fathom_error *err);
void input_close(struct input *input);

#endif
