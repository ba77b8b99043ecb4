/*
 * child.h - a child process that reads an image's debug information and answers for its addresses.
 * Private to image/.
 *
 * It may crash, hang or answer nonsense on damaged debug information; whoever asks loses no more than the
 * answers. It has none of the parent's descriptors, dies with it, and has limits: the memory and the times
 * below, of which the times are of the clock for the parent and of the CPU for the child itself.
 *
 * On the socket, little-endian: the child first sends its state, u32: 0, or an errno. A request is an
 * address, u64. The answer is its length in bytes, u32, and so many bytes: for each frame the line, u32, and
 * two strings, function and file, each a u32 with the length + 1 (0: unknown) and the bytes.
 */
#ifndef FATHOM_IMAGE_LINES_CHILD_H
#define FATHOM_IMAGE_LINES_CHILD_H

#include <sys/types.h>

#include "image/lines/lines.h"

#define LINES_CHILD_FRAMES 64u        /* in an answer, at most */
#define LINES_CHILD_ANSWER (1u << 20) /* bytes of an answer, at most */
#define LINES_CHILD_MEMORY                                                                                   \
    (UINT64_C(8) << 30)      /* bytes beyond what it inherits: more than any debug file has */
#define LINES_CHILD_OPENS 60 /* seconds for opening: a gigabyte of debug information takes some 10 */
#define LINES_CHILD_TELLS 20 /* seconds for an answer, which may need a unit to be read */

struct lines_child {
    pid_t pid;  /* 0: there is none */
    int socket; /* good with pid, as the next */
    int alive;  /* a pipe's end: the child dies when it is closed, by the parent's death too */
};

/* Starts the child and waits until it has opened the debug information. Errors as lines_open(). */
int lines_child_start(struct lines_child *child, const struct image *image,
                      const struct image_options *options, struct fathom_error *err);
/* Asks it: the answer's frames into *answer (malloc'd, the caller's) and *size. -EIO: it died or took too
 * long, and was ended. */
int lines_child_ask(struct lines_child *child, uint64_t address, uint8_t **answer, size_t *size);
void lines_child_end(struct lines_child *child); /* one that is zeroed is allowed */

#endif
