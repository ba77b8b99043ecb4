/*
 * child.h - a child process that reads an image's debug information and answers queries for its addresses.
 * Private to image/.
 *
 * It may crash, hang or return garbage on damaged debug information; the caller loses only the answers. It has
 * none of the parent's descriptors, dies with it, and is limited in memory and time: the parent measures
 * wall-clock time, the child itself CPU time.
 *
 * On the socket, little-endian: the child first sends its state, u32: 0, or an errno; and, if 0, what the file
 * lacks (lines_reader_lacks()), LINES_CHILD_LACKS bytes. A request is an address, u64. The answer is its length
 * in bytes, u32 (LINES_CHILD_SPENT: lines_reader_spent(), LINES_CHILD_DAMAGED: lines_reader_damaged(); then the child ends), then for each frame its line, its
 * function's line and its discriminator, u32 each, and three strings: function, file and linkage name, each a u32
 * with the length + 1 (0: unknown) and the bytes.
 */
#ifndef FATHOM_IMAGE_LINES_CHILD_H
#define FATHOM_IMAGE_LINES_CHILD_H

#include <sys/types.h>

#include "image/lines/lines.h"

#define LINES_CHILD_FRAMES  64u /* in an answer, at most */
#define LINES_CHILD_LACKS   512u
#define LINES_CHILD_ANSWER  (1u << 20) /* bytes of an answer, at most */
#define LINES_CHILD_SPENT   UINT32_MAX
#define LINES_CHILD_DAMAGED (UINT32_MAX - 1)
#define LINES_CHILD_MEMORY                                                                                   \
    (UINT64_C(8) << 30) /* bytes beyond what it inherits: more than any debug file needs; a report's debug
                              * information has no more together (lines_cache.c) */
#define LINES_CHILD_OPENS 60 /* seconds for opening: a gigabyte of debug information takes about 10 */
#define LINES_CHILD_TELLS 20 /* seconds for an answer, which may require reading a unit */

struct lines_child {
    pid_t pid;  /* 0: none */
    int socket; /* valid if pid is, like the next */
    int alive;  /* a pipe's end: the child dies when it is closed, as by the parent's death */
    char lacks[LINES_CHILD_LACKS];
};

/* Starts the child and waits until it has opened the debug information. Errors as lines_open(). */
int lines_child_start(struct lines_child *child, const struct image *image,
                      const struct image_options *options, struct fathom_error *err);
/* Queries it: stores the answer's frames in *answer (malloc'd, the caller's) and *size. -EIO: it died;
 * -EOVERFLOW: it exceeded its budget of work or time, and was killed. -EBADMSG: it found damage, and ended. */
int lines_child_ask(struct lines_child *child, uint64_t address, uint8_t **answer, size_t *size);
void lines_child_end(struct lines_child *child); /* a zeroed one is allowed */

#endif
