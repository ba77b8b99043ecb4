/*
 * reader.h - the implementation of lines.h, using libdwarf in the calling process. Private to image/.
 *
 * libdwarf aborts on some damaged debug information, so lines.c calls these only in a child process, except
 * for lines_reader_fetch(), which does not use libdwarf.
 */
#ifndef FATHOM_IMAGE_LINES_READER_H
#define FATHOM_IMAGE_LINES_READER_H

#include "image/lines/lines.h"

struct lines_reader;

/* As lines_open(), lines_close() and lines_at(). */
int lines_reader_open(const struct image *image, const struct image_options *options,
                      struct lines_reader **out, struct fathom_error *err);
/* Queries servers (image_options.debuginfod) for the files that lines_reader_open() will look for, so that a
 * process forked afterwards need not wait for a server. */
void lines_reader_fetch(const struct image *image, const struct image_options *options);
/* What is unknown because files of split debug information are missing (a clause); "": nothing. */
const char *lines_reader_lacks(const struct lines_reader *lines);
/* Whether it took more work than real debug information of its size: the last answer may be incomplete. */
bool lines_reader_spent(const struct lines_reader *lines);
/* Whether a section that it needs cannot be read. */
bool lines_reader_damaged(const struct lines_reader *lines);
void lines_reader_close(struct lines_reader *lines);
size_t lines_reader_at(struct lines_reader *lines, uint64_t address, struct line_frame *out, size_t max);

#endif
