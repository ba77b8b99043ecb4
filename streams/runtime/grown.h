/*
 * grown.h - a file of the trace's directory that grows through a shared mapping, so that a process that is killed leaves behind what
 * was written. The first window, which has the header, stays mapped; beside it there is the one that is written.
 */
#ifndef FATHOM_STREAMS_RUNTIME_GROWN_H
#define FATHOM_STREAMS_RUNTIME_GROWN_H

#include <stdbool.h>
#include <stdint.h>

#define GROWN_NAME 48 /* bytes: PID-TID-N.burst */

struct grown {
    int fd; /* the program may have closed it, and have another file by its number */
    uint64_t device, inode;
    char name[GROWN_NAME];
    uint8_t *first;  /* NULL: there is no file */
    uint8_t *window; /* a mapping of a part of the file */
    uint64_t start;  /* where that begins in the file */
    uint64_t most;   /* bytes of the file that have blocks on the disk, maybe fewer than the window */
    uint64_t size;   /* bytes used in it */
};

/* Makes DIRECTORY STEM-N SUFFIX with the first *number from 0 on that is free: numbers of threads and processes are used again. false:
 * it cannot be made. */
bool grown_open(struct grown *file, const char *directory, const char *stem, const char *suffix,
                uint32_t *number);
/* Cuts the file to `used` bytes unless that is 0: another process goes on with it, or it was not begun. */
void grown_close(struct grown *file, uint64_t used);
/* Cuts it, and leaves it open. */
void grown_cut(struct grown *file, uint64_t used);
/* Room for `bytes`, at most a page, before `most` bytes of the file. *moved: the window is another one now. 0, or the errno that ends the
 * file; EFBIG: the bound. */
int grown_room(struct grown *file, uint32_t bytes, uint64_t most, bool *moved);
/* These need the room. */
void grown_byte(struct grown *file, uint8_t byte);
void grown_number(struct grown *file, uint64_t value); /* LEB128 */
/* Whether files may get so large (RLIMIT_FSIZE): a signal would end the program else. */
bool grown_allowed(uint64_t bytes);
/* Where the next byte will be in the file. */
uint64_t grown_end(const struct grown *file);

#endif
