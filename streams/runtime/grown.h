/*
 * grown.h - a file in the trace's directory that grows through a shared mapping, so that a killed process leaves
 * behind what it wrote. The first window, which has the header, stays mapped; the current one is mapped besides.
 */
#ifndef FATHOM_STREAMS_RUNTIME_GROWN_H
#define FATHOM_STREAMS_RUNTIME_GROWN_H

#include <stdbool.h>
#include <stdint.h>

#define GROWN_NAME 48 /* bytes: PID-TID-N.burst */

struct grown {
    int fd; /* the program may have closed it, and opened another file with its number */
    uint64_t device, inode;
    char name[GROWN_NAME];
    uint8_t *first;  /* NULL: there is no file */
    uint8_t *window; /* a mapping of a part of the file */
    uint64_t start;  /* its offset in the file */
    uint64_t most;   /* allocated bytes of the window, perhaps not all */
    uint64_t size;   /* bytes used in the window */
};

/* Makes DIRECTORY STEM-N SUFFIX with the first free *number from 0 on, as numbers of threads and processes are
 * reused. false: it cannot be made. */
bool grown_open(struct grown *file, const char *directory, const char *stem, const char *suffix,
                uint32_t *number);
/* Truncates the file to `used` bytes. 0: does not, as another process continues it, or it was not begun. */
void grown_close(struct grown *file, uint64_t used);
/* Truncates it, and leaves it open. */
void grown_cut(struct grown *file, uint64_t used);
/* Makes room for `bytes`, at most a page, within the file's first `most` bytes. *moved: another window is mapped
 * now. 0, or the errno that ends the file; EFBIG: the limit. */
int grown_room(struct grown *file, uint32_t bytes, uint64_t most, bool *moved);
/* Room must have been made for these. */
void grown_byte(struct grown *file, uint8_t byte);
void grown_number(struct grown *file, uint64_t value); /* LEB128 */
/* Whether files may be this large (RLIMIT_FSIZE): otherwise a signal would kill the program. */
bool grown_allowed(uint64_t bytes);
/* Where the next byte will be in the file. */
uint64_t grown_end(const struct grown *file);

#endif
