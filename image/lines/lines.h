/*
 * lines.h - source lines and inlined functions of an address, from Go's own table (go_lines.h) or by libdwarf,
 * from an image's debug information or a separate debug file. For code made at run time, the lines that its
 * program wrote (made/code_names.h).
 *
 * libdwarf runs in a child process. If damaged debug information kills it, nothing is known about the queried
 * address; this is logged once. The options' strings and log must outlive `lines`.
 */
#ifndef FATHOM_IMAGE_LINES_LINES_H
#define FATHOM_IMAGE_LINES_LINES_H

#include "image/image.h"

struct lines;

struct line_frame {
    const char *function; /* demangled name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    /* The form in which compilers look up profiles; only from debug information: */
    const char *linkage;    /* the linkage name or, if there is none, the plain one; NULL: unknown */
    uint32_t start;         /* the line of its declaration; 0: unknown */
    uint32_t discriminator; /* which of the line's blocks, as encoded (DWARF 5, section 6.2.2); 0: first */
};

/* -ENODATA: no debug info found for this image; -EBADMSG: it is damaged. Owned by the caller; the image must
 * outlive it. */
int lines_open(const struct image *image, const struct image_options *options, struct lines **out,
               struct fathom_error *err);
/* The same by Go's table alone; -ENODATA: the image has none. */
int lines_open_table(const struct image *image, const struct image_options *options, struct lines **out,
                     struct fathom_error *err);
/* From now on, debug information is read where the table has no answer: for C in a Go program. */
void lines_allow_debug(struct lines *lines);
void lines_close(struct lines *lines);

/* Frames at the address, innermost (most deeply inlined) first, the function itself last. Returns how many
 * were written (at most max), 0 if nothing is known. Strings live as long as `lines`. */
size_t lines_at(struct lines *lines, uint64_t address, struct line_frame *out, size_t max);

#endif
