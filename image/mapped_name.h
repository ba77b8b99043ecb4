/*
 * mapped_name.h - what the name of a mapping (proc(5), PERF_RECORD_MMAP2) says stands behind it.
 */
#ifndef FATHOM_IMAGE_MAPPED_NAME_H
#define FATHOM_IMAGE_MAPPED_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum mapped_kind {
    MAPPED_NO_FILE, /* anonymous memory, a device, a segment of System V, what the kernel made ("[vdso]") */
    MAPPED_MEMORY_FILE, /* a file that never had a path (memfd_create) */
    MAPPED_FILE,        /* a file that is or was at this path */
};

enum mapped_kind mapped_kind(const char *name);
/* Bytes of the name without " (deleted)", which the kernel adds when the file is gone. */
size_t mapped_path_length(const char *name);
bool mapped_is_deleted(const char *name);

#endif
