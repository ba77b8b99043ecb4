/*
 * reader.h - what lines.h promises, by libdwarf in the process that calls it. Private to image/.
 *
 * libdwarf aborts on some damaged debug information; lines.c calls these in a child process
 * only, but for lines_reader_fetch(), which does not use it.
 */
#ifndef FATHOM_IMAGE_LINES_READER_H
#define FATHOM_IMAGE_LINES_READER_H

#include "image/lines/lines.h"

struct lines_reader;

/* As lines_open(), lines_close() and lines_at(). */
int lines_reader_open(const struct image *image, const struct image_options *options,
                      struct lines_reader **out, struct fathom_error *err);
/* Asks servers (image_options.debuginfod) for the files that lines_reader_open() will look for: a process that
 * is forked afterwards has the answers and waits for no server. */
void lines_reader_fetch(const struct image *image, const struct image_options *options);
void lines_reader_close(struct lines_reader *lines);
size_t lines_reader_at(struct lines_reader *lines, uint64_t address, struct line_frame *out, size_t max);

#endif
