/*
 * maps.h - reads /proc/self/maps line by line, without libc; uses the calling thread's own entry, since that
 * of the process is empty once its first thread has ended.
 *
 * The buffer is a separate mapping, not on the stack, which may be a coroutine's of a few KiB.
 */
#ifndef FATHOM_PATHMAP_PROBE_MAPS_H
#define FATHOM_PATHMAP_PROBE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#define MAPS_FILE "/proc/thread-self/maps"

struct maps {
    int fd;
    char *buffer;
    uint32_t used, next; /* bytes in the buffer; where the next line starts */
};

struct maps_line {
    uint64_t start, end, offset, device, inode;
    int prot;         /* PROT_... */
    const char *path; /* "": none; valid until the next line is read */
};

/* false: the file cannot be read. */
bool maps_open(struct maps *maps);
void maps_close(struct maps *maps);
/* false: no more lines. */
bool maps_next(struct maps *maps, struct maps_line *out);

#endif
