/*
 * mapped.h - tracks the files that recorded processes map: determines their build-ids, and copies those that a report
 * would not find at their path (image_store.h).
 *
 * Each build of a file is opened once, as the process sees it (mapped_finder.h): it may be in another mount namespace, deleted,
 * or a file in memory. If our own path does not lead to the same file, it is copied at once. Otherwise it stays open until the
 * end of the recording, and is copied when it turns out to be replaced or deleted. The vDSO has no path, and differs between
 * kernels: it is always copied.
 *
 * Where the kernel wrote no build-id, it is read again after the file was changed: a build may overwrite another.
 */
#ifndef FATHOM_API_RECORD_MAPPED_H
#define FATHOM_API_RECORD_MAPPED_H

#include "base/log.h"
#include "image/image.h"
#include "perfdata/record.h"

struct mapped;

/* Of a file when its build-id was read. */
struct file_state {
    uint64_t device, inode, size;
    uint64_t changed, written; /* ctime and mtime, ns */
};

struct mapped_file {
    const char *path;
    struct build_id id; /* size 0: none, or unreadable */
    struct file_state state;
};

struct mapped *mapped_new(const struct log *log); /* borrowed. NULL: out of memory */
void mapped_free(struct mapped *mapped);
/* Takes a RECORD_FORK. Call it before the mappings of the process are noted. */
void mapped_fork(struct mapped *mapped, const struct record *record);
/* Takes a RECORD_MMAP. *id: the file's build-id, as recorded or as read; size 0: unknown. *found: whether a report can identify
 * the file by its build-id or at its path; if not, it must not use the file that is there. 0 or -ENOMEM. */
int mapped_note(struct mapped *mapped, const struct record *record, struct build_id *id, bool *found);
/* Checks some files, and copies those that were replaced or deleted. Call it repeatedly. */
void mapped_check(struct mapped *mapped);
/* Call at the end of the recording: copies the files that were replaced or deleted meanwhile. */
void mapped_finish(struct mapped *mapped);
/* The recorded files; a path appears once for each build of its file. */
size_t mapped_files(const struct mapped *mapped, const struct mapped_file **out);

#endif
