/*
 * mapped_name.h - what is behind a mapping, by its name (proc(5), PERF_RECORD_MMAP2).
 */
#ifndef FATHOM_IMAGE_MAPPED_NAME_H
#define FATHOM_IMAGE_MAPPED_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum mapped_kind {
    MAPPED_NO_FILE, /* anonymous memory, a device, a System V segment, a mapping by the kernel ("[vdso]") */
    MAPPED_MEMORY_FILE, /* a file that never had a path (memfd_create) */
    MAPPED_FILE,        /* a file that is or was at this path */
};

enum mapped_kind mapped_kind(const char *name);
/* Whether it is memory that programs write code to: without a file, or with one that has no name. */
bool mapped_is_run_time(const char *name);
/* Length of the name without " (deleted)", which the kernel appends if the file is gone. */
size_t mapped_path_length(const char *name);
bool mapped_is_deleted(const char *name);
/* Whether a file's name is not that of a library: "libz.so", "libz.so.1". */
bool mapped_is_program(const char *path);

#endif
