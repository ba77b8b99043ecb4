/*
 * process_file.h - reads what the runtime noted of a process (streams/process_wire.h), which may be damaged, or hostile: the call paths by
 * their ids, and which object of the heap an address was in at a time. The files of its ancestors are read, too.
 */
#ifndef FATHOM_STREAMS_TRACE_PROCESS_FILE_H
#define FATHOM_STREAMS_TRACE_PROCESS_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "streams/process_wire.h"

struct process_file;

/* The file of PID-N in the directory. -ENOENT and other system errors; -EINVAL: it is no such file, or of another version; -ENOMEM. It
 * is read as far as it is not damaged. */
int process_file_open(const char *directory, uint32_t pid, uint32_t number, struct process_file **out,
                      struct fathom_error *err);
void process_file_close(struct process_file *file); /* NULL is allowed */
const struct process_header *process_file_header(const struct process_file *file);
/* Whether it or one of its ancestors' is damaged, or an ancestor's is missing: paths or objects may be. */
bool process_file_damaged(const struct process_file *file);

struct process_path {
    const uint64_t *pcs; /* return addresses, the innermost first; live as long as the file */
    uint32_t depth;
    bool cut; /* outer frames are missing */
};
/* NULL: there is none with the id, or it is 0. */
const struct process_path *process_file_path(const struct process_file *file, uint64_t id);

struct process_object {
    uint64_t start, size; /* bytes */
    uint64_t path;        /* the id under which it was allocated */
    uint64_t serial;      /* allocations before it, those of its ancestors until their forks among them */
};

/* Goes on to the time at which the file had so many bytes (BURST_HEAP of a trace), or to its end: there is no way back. -ENOMEM. */
int process_file_advance(struct process_file *file, uint64_t to, struct fathom_error *err);
/* The live object that has the byte at this address; NULL: none, or the heap is not known at that time. It lives until the next advance. An
 * object of no bytes has one. */
const struct process_object *process_file_find(const struct process_file *file, uint64_t address);

#endif
