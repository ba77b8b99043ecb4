/* printer.c - see printer.h. */
#include "report/text/printer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text/shorten.h"

void printer_write(struct printer *printer, const char *fmt, ...)
{
    if (printer->failed)
        return;
    va_list ap;
    va_start(ap, fmt);
    errno = 0;
    int length = vfprintf(printer->out, fmt, ap);
    if (length < 0)
        printer->failed = errno ? errno : EIO;
    else
        printer->written += (size_t)length;
    va_end(ap);
}

void printer_foreign(struct printer *printer, const char *text)
{
    while (*text) {
        uint32_t code;
        size_t length = text_character(text, &code);
        if (length && text_shown(code))
            printer_bytes(printer, text, length);
        else
            printer_bytes(printer, "?", 1);
        text += length ? length : 1;
    }
}

void printer_bytes(struct printer *printer, const char *data, size_t size)
{
    if (printer->failed || size == 0)
        return;
    errno = 0;
    if (fwrite(data, 1, size, printer->out) != size)
        printer->failed = errno ? errno : EIO;
    printer->written += size;
}

int printer_finish(struct printer *printer, struct fathom_error *err)
{
    errno = 0;
    if (!printer->failed && (fflush(printer->out) != 0 || ferror(printer->out)))
        printer->failed = errno ? errno : EIO;
    if (!printer->failed)
        return 0;
    return error_system(err, printer->failed, "cannot write the report");
}

/* Mark of a frame that is not a plain function of a program. */
static const char *frame_mark(const struct frame *frame)
{
    return frame->kind == FRAME_INLINED ? " (inlined)" : frame->kind == FRAME_KERNEL ? " [k]" : "";
}

/* Whether to print the image's name after the function's, unless that contains it ("libc.so.6+0x1234") or it is the
 * kernel. */
static bool has_image(const struct frame *frame, bool show_image)
{
    size_t length = strlen(frame->image);
    if (frame->kind == FRAME_KERNEL && strcmp(frame->image, "[kernel]") == 0)
        return false;
    bool named_after_image = strncmp(frame->name, frame->image, length) == 0 && frame->name[length] == '+';
    return show_image && length > 0 && !named_after_image;
}

/* Writes the text after the name. */
static void write_beside(struct printer *printer, const struct frame *frame, bool show_image)
{
    printer_write(printer, "%s", frame_mark(frame));
    if (has_image(frame, show_image))
        printer_write(printer, " (%s)", frame->image);
}

/* Upper bound of what write_beside() writes, in bytes. */
static size_t length_beside(const struct frame *frame, bool show_image)
{
    return strlen(frame_mark(frame)) +
           (has_image(frame, show_image) ? strlen(frame->image) + strlen(" ()") : 0);
}

void frame_write(struct printer *printer, const struct frame *frame, bool show_image, size_t capacity)
{
    if (!frame) {
        printer_write(printer, "[unknown frame]");
        return;
    }
    size_t beside = length_beside(frame, show_image);
    char *name = capacity && strlen(frame->name) + beside > capacity
                     ? name_shorten(frame->name, capacity > beside ? capacity - beside : 0)
                     : NULL;
    printer_write(printer, "%s", name ? name : frame->name);
    free(name);
    write_beside(printer, frame, show_image);
}

/* Thresholds for hot (bold red) and warm (yellow) rows, in tenths of a percent of their own weight. */
enum { HOT_TENTHS = 50, WARM_TENTHS = 10 };

const char *row_colour(bool colour, uint64_t part, uint64_t whole)
{
    unsigned tenths = colour ? share_tenths(part, whole) : 0;
    return tenths >= HOT_TENTHS ? "\033[1;31m" : tenths >= WARM_TENTHS ? "\033[33m" : "";
}

const char *row_colour_end(bool colour, uint64_t part, uint64_t whole)
{
    return *row_colour(colour, part, whole) ? "\033[0m" : "";
}
