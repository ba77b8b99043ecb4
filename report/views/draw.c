/*
 * draw.c - draws branches as indented rows.
 *
 * Most of a call tree consists of chains. Indenting at each call would push deep stacks off the screen, so
 * only forks indent: a row without a mark is called by the row above it; rows marked "+" at the same
 * indentation are called by the last row above them that is not indented as far. A function that only calls
 * itself takes one row, "fib x37".
 */
#include "report/views/views.h"

#include <string.h>

/* Deeper forks are indented no further and show their level instead: without a minimum weight a tree may fork
 * at each of 100,000 levels. */
enum { INDENT_LEVELS = 40 };

static uint32_t next_shown(const struct branches *b, uint32_t at, uint32_t end)
{
    while (at < end && !b->at[at].shown)
        at = b->at[at].end;
    return at;
}

/* Sets `forks`; returns the first shown child, or the branch's end. */
static uint32_t look_below(struct branches *b, uint32_t i)
{
    uint32_t end = b->at[i].end, first = next_shown(b, i + 1, end);
    b->at[i].forks = first < end && next_shown(b, b->at[first].end, end) < end;
    return first;
}

size_t room_left(const struct drawing *drawing, size_t row_began)
{
    size_t width = drawing->options->width, used = drawing->printer->written - row_began;
    return width == 0 ? 0 : used < width ? width - used : 1;
}

static void write_indent(struct printer *printer, uint32_t level, bool marked)
{
    if (level > INDENT_LEVELS)
        printer_write(printer, "%*s[%u] ", 2 * INDENT_LEVELS, "", level);
    else
        printer_write(printer, "%*s", (int)(2 * (level - marked)), "");
    if (marked)
        printer_write(printer, "+ ");
}

void branches_draw(const struct drawing *drawing, struct branches *b, branch_row_write *write_row,
                   const void *context, bool colour_by_total)
{
    struct printer *printer = drawing->printer;
    b->at[0].level = 0;
    for (uint32_t i = look_below(b, 0); i < b->count && !printer->failed;) {
        const struct branch *parent = &b->at[b->at[i].parent], *top = &b->at[i];
        bool marked = parent->forks;
        uint32_t level = b->at[i].level = parent->level + marked, below = look_below(b, i),
                 length = top->times > 1 ? top->times : 1;
        struct branch_row row = {top->total, top->self, top->error, branch_sure(drawing, top), top};
        while (below < b->at[i].end && !b->at[i].forks && b->at[below].item == top->item) {
            i = below;
            b->at[i].level = level;
            row.self = add_saturating(row.self, b->at[i].self);
            row.error = add_saturating(row.error, b->at[i].error);
            double sure = branch_sure(drawing, &b->at[i]);
            row.sure = sure < row.sure ? sure : row.sure;
            length++;
            below = look_below(b, i);
        }
        bool colour = drawing->options->colour;
        uint64_t heat = colour_by_total ? row.total : row.self;
        printer_write(printer, "%s", row_colour(colour, heat, drawing->whole));
        size_t began = printer->written;
        write_row(drawing, &row, context);
        write_indent(printer, level, marked);
        char times[16] = "";
        if (length > 1)
            snprintf(times, sizeof times, " x%u", length);
        frame_write(printer, frames_at(drawing->frames, top->item), drawing->options->show_image,
                    room_left(drawing, began - strlen(times)));
        printer_write(printer, "%s", times);
        printer_write(printer, "%s\n", row_colour_end(colour, heat, drawing->whole));
        i = next_shown(b, below, b->count);
    }
}
