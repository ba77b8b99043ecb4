/*
 * mapped_name.h - what a mapping is, by its name (proc(5), PERF_RECORD_MMAP2).
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
/* Whether it is memory that programs write code to: without a file, or of a file without a path. */
bool mapped_is_run_time(const char *name);
/* Whether it is a jitdump (made/jitdump.h), which is mapped executable only to have the mapping recorded. */
bool mapped_is_jitdump(const char *name);
/* The recorder appends this to the name of a file that it did not find, or that a report would not find: without
 * a build-id, another file at that path would be mistaken for it. */
#define MAPPED_NOT_FOUND " (not found)"

/* Length of the name without MAPPED_NOT_FOUND or " (deleted)", which the kernel appends if the file is gone. */
size_t mapped_path_length(const char *name);
bool mapped_is_gone(const char *name); /* whether it has one of these suffixes */
bool mapped_is_not_found(const char *name);
/* Whether a file's name does not look like a library's: "libz.so", "libz.so.1". */
bool mapped_is_program(const char *path);

#endif
