/*
 * printer.h - writes report text: remembers the first write error, formats shares and frame names.
 */
#ifndef FATHOM_REPORT_TEXT_PRINTER_H
#define FATHOM_REPORT_TEXT_PRINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/frames.h"

struct printer {
    FILE *out;
    int failed;     /* errno of the first failed write; nothing is written after it */
    size_t written; /* bytes so far */
};

__attribute__((format(printf, 2, 3))) void printer_write(struct printer *printer, const char *fmt, ...);
/* Writes untrusted text (base/text.h). */
void printer_foreign(struct printer *printer, const char *text);
void printer_bytes(struct printer *printer, const char *data, size_t size);
/* Flushes. 0, or the first failure as a negative errno with its message. */
int printer_finish(struct printer *printer, struct fathom_error *err);

#define SHARE_SIZE 8 /* characters with the NUL */
/* "12.3%"; "<0.1%" rather than "0.0%" if not zero, and "100.0%" only for the whole. Returns `text`. */
const char *share_format(char text[SHARE_SIZE], uint64_t part, uint64_t whole);
/* The same with a bound: "12.3% +-0.4". Plain when the bound is 0. */
#define SHARE_BOUND_SIZE  (2 * SHARE_SIZE + 4)
#define SHARE_BOUND_WIDTH 14 /* of the longest, "100.0% +-100.0" */
const char *share_bound_format(char text[SHARE_BOUND_SIZE], uint64_t part, uint64_t bound, uint64_t whole);

/* "memcpy", with the requested additions: "memcpy (libc.so.6)", "step (inlined) at loop.c:12". room: columns
 * available, 0: unlimited; a name that does not fit is shortened (shorten.h). */
void frame_write(struct printer *printer, const struct frame *frame, bool show_image, size_t room);

/* Terminal colour of a row by its own share of the total weight; "" if colour is off. */
const char *row_colour(bool colour, uint64_t part, uint64_t whole);
const char *row_colour_end(bool colour, uint64_t part, uint64_t whole);

#endif
