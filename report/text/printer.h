/*
 * printer.h - writes report text: remembers the first write error, formats frame names.
 */
#ifndef FATHOM_REPORT_TEXT_PRINTER_H
#define FATHOM_REPORT_TEXT_PRINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/share.h"
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

/* "memcpy", with the requested additions: "memcpy (libc.so.6)", "step (inlined) at loop.c:12". capacity:
 * available columns, 0: unlimited; a name that does not fit is shortened (shorten.h). */
void frame_write(struct printer *printer, const struct frame *frame, bool show_image, size_t capacity);

/* Terminal colour of a row by its own share of the total weight; "" if colour is off. */
const char *row_colour(bool colour, uint64_t part, uint64_t whole);
const char *row_colour_end(bool colour, uint64_t part, uint64_t whole);

#endif
