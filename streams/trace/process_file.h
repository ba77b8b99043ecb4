/*
 * process_file.h - reads what the runtime recorded of a process (streams/process_wire.h), which may be damaged or
 * hostile: the call paths by their ids, and the heap object that contained an address at a time. Reads its
 * ancestors' files, too.
 */
#ifndef FATHOM_STREAMS_TRACE_PROCESS_FILE_H
#define FATHOM_STREAMS_TRACE_PROCESS_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "streams/process_wire.h"

struct process_file;

/* Opens the file of PID-N in the directory. -ENOENT and other system errors; -EINVAL: not such a file, or of
 * another version; -ENOMEM. A damaged file is read up to the damage. */
int process_file_open(const char *directory, uint32_t pid, uint32_t number, struct process_file **out,
                      struct fathom_error *err);
void process_file_close(struct process_file *file); /* NULL is allowed */
const struct process_header *process_file_header(const struct process_file *file);
/* Whether it or an ancestor's is damaged, or an ancestor's is missing: paths or objects may be missing. */
bool process_file_damaged(const struct process_file *file);

struct process_path {
    const uint64_t *pcs; /* return addresses, innermost first; live as long as the file */
    uint32_t depth;
    bool cut; /* outer frames are missing */
};
/* NULL: no path has this id, or it is 0. */
const struct process_path *process_file_path(const struct process_file *file, uint64_t id);

struct process_object {
    uint64_t start, size; /* bytes */
    uint64_t path;        /* id of the path under which it was allocated */
    uint64_t serial;      /* number of allocations before it, including its ancestors' before their forks */
};

/* Advances to the time at which the file had `to` bytes (BURST_HEAP of a trace), or to its end; cannot go back.
 * -ENOMEM. */
int process_file_advance(struct process_file *file, uint64_t to, struct fathom_error *err);
/* The live object that contains the byte at this address; NULL: none, or the heap is unknown at that time. Valid
 * until the next advance. An object of size 0 counts as one byte. */
const struct process_object *process_file_find(const struct process_file *file, uint64_t address);

#endif
