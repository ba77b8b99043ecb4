/* path_row.c - see path_row.h. */
#include "report/views/path_row.h"

#include <stdlib.h>
#include <string.h>

#define NAME_ROOM   40 /* columns of a function's name, unless full names are requested */
#define PATH_MOST   64 /* number of frames shown of a path, from its inner end */
#define PATH_INDENT 9

/* The text of a step of a path; the caller frees it. NULL: out of memory. */
static char *step_text(const struct drawing *d, const struct frame *frame, bool show_image)
{
    char *text = NULL;
    size_t size;
    struct printer printer = {.out = open_memstream(&text, &size)};
    if (!printer.out)
        return NULL;
    frame_write(&printer, frame, show_image, d->options->width ? NAME_ROOM : 0);
    fclose(printer.out);
    return text;
}

/* From the inner end outwards. *out: the caller frees it. Returns their number. */
static size_t find_steps(const struct cct_node *node, const struct cct_node *end,
                         const struct cct_node ***out)
{
    size_t count = 0, at = 0;
    for (const struct cct_node *n = node; n != end && cct_parent(n); n = cct_parent(n))
        count++;
    *out = calloc(count + 1, sizeof **out);
    for (const struct cct_node *n = node; *out && n != end && cct_parent(n); n = cct_parent(n), at++)
        (*out)[end ? count - 1 - at : at] = n;
    return *out ? count : 0;
}

void path_row_write(const struct drawing *d, const struct cct_node *node, const struct cct_node *end)
{
    const struct view_options *o = d->options;
    struct printer *p = d->printer;
    const struct cct_node **steps;
    const size_t count = find_steps(node, end, &steps);
    size_t began = p->written;
    printer_write(p, "%*s", PATH_INDENT, "");
    for (size_t i = 0; i < count; i++) {
        if (o->width && i == PATH_MOST) {
            printer_write(p, " < ...");
            break;
        }
        const struct frame *frame = frames_at(d->frames, steps[i]->item),
                           *next = i + 1 < count ? frames_at(d->frames, steps[i + 1]->item) : NULL;
        bool last = !next || strcmp(next->image, frame->image) != 0;
        char *text = step_text(d, frame, o->show_image && last);
        if (i && o->width && strlen(text ? text : "") + strlen(" < ") > room_left(d, began)) {
            printer_write(p, "\n");
            began = p->written;
            printer_write(p, "%*s< ", PATH_INDENT, "");
        } else if (i) {
            printer_write(p, " < ");
        }
        printer_write(p, "%s", text ? text : "?");
        free(text);
    }
    printer_write(p, "\n");
    free(steps);
}
