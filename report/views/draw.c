/*
 * draw.c - draws branches as indented rows.
 *
 * Most of a call tree consists of chains. Indenting at each call would push deep stacks off the screen, so
 * only forks indent: a row without a mark is called by the row above it; rows marked "+" at the same
 * indentation are called by the last row above them that is not indented as far. A function that only calls
 * itself takes one row, "fib x37"; functions that call each other in turn take one each, and one more for all repetitions.
 */
#include "report/views/views.h"

#include <string.h>

/* Deeper forks are indented no further and show their level instead: without a minimum weight a tree may fork
 * at each of 100,000 levels. */
enum { INDENT_LEVELS = 40 };

/* Functions that call each other in turn: at most this many of them, whose rows repeat at least this often. */
enum { PERIOD_ROWS = 16, AGAIN_LEAST = 3 };

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

/* The only shown child; BRANCHES_NONE: none, or several. */
static uint32_t chain_next(struct branches *b, uint32_t i)
{
    const uint32_t below = look_below(b, i);
    return below < b->at[i].end && !b->at[i].forks ? below : BRANCHES_NONE;
}

static void row_add(const struct drawing *drawing, struct branch_row *row, const struct branch *branch)
{
    const double sure = branch_sure(drawing, branch);
    row->self = add_saturating(row->self, branch->self);
    row->error = add_saturating(row->error, branch->error);
    row->calls += branch->calls;
    row->sure = sure < row->sure ? sure : row->sure;
}

static struct branch_row row_begin(const struct drawing *drawing, const struct branch *top)
{
    return (struct branch_row){top->total, top->self, top->error, top->calls, branch_sure(drawing, top), top};
}

/* The last rows drawn of a chain, to detect repetitions of functions that call each other. */
struct chain {
    uint32_t tops[PERIOD_ROWS]; /* a ring */
    uint32_t rows;
    uint32_t ends; /* the last branch of the last row */
};

/* Whether the next branches repeat the last `period` rows. Adds them up; *end becomes the last of them. */
static bool is_again(const struct drawing *drawing, struct branches *b, const struct chain *chain,
                     uint32_t period, struct branch_row *row, uint32_t *end)
{
    for (uint32_t k = 0; k < period; k++) {
        const struct branch *before = &b->at[chain->tops[(chain->rows - period + k) % PERIOD_ROWS]];
        const uint32_t next = chain_next(b, *end);
        if (next == BRANCHES_NONE || b->at[next].item != before->item || b->at[next].times != before->times)
            return false;
        *end = next;
        if (row->top)
            row_add(drawing, row, &b->at[next]);
        else
            *row = row_begin(drawing, &b->at[next]);
    }
    return true;
}

/* How often the last rows are repeated, at least AGAIN_LEAST times; 0: they are not. */
static uint32_t count_again(const struct drawing *drawing, struct branches *b, const struct chain *chain,
                            uint32_t period, struct branch_row *row, uint32_t *end)
{
    struct branch_row sum = {0};
    uint32_t times = 0, at = chain->ends;
    while (is_again(drawing, b, chain, period, &sum, &at)) {
        *row = sum;
        *end = at;
        times++;
    }
    return times >= AGAIN_LEAST ? times : 0;
}

static void write_coloured(const struct drawing *drawing, const struct branch_row *row,
                           const struct row_style *style, uint32_t level, bool marked, const char *again,
                           uint32_t length)
{
    struct printer *printer = drawing->printer;
    const bool colour = drawing->options->colour;
    const uint64_t heat = style->by_total ? row->total : row->self;
    printer_write(printer, "%s", row_colour(colour, heat, drawing->whole));
    const size_t began = printer->written;
    style->write_row(drawing, row, style->context);
    write_indent(printer, level, marked);
    char times[16] = "";
    if (length > 1)
        snprintf(times, sizeof times, " x%u", length);
    if (again)
        printer_write(printer, "%s", again);
    else
        frame_write(printer, frames_at(drawing->frames, row->top->item), drawing->options->show_image,
                    room_left(drawing, began - strlen(times)));
    printer_write(printer, "%s", times);
    printer_write(printer, "%s\n", row_colour_end(colour, heat, drawing->whole));
}

/* Draws one row for all repetitions of the rows above it. */
static void draw_again(const struct drawing *drawing, struct branches *b, const struct row_style *style,
                       struct chain *chain)
{
    const uint32_t level = b->at[chain->ends].level;
    for (uint32_t period = 2; period <= PERIOD_ROWS && period <= chain->rows; period++) {
        struct branch_row row;
        char again[64];
        uint32_t end, times = count_again(drawing, b, chain, period, &row, &end);
        if (!times)
            continue;
        snprintf(again, sizeof again, "[the %u rows above, %u times more]", period, times);
        write_coloured(drawing, &row, style, level, false, again, 1);
        chain->rows = 0;
        chain->ends = end;
        b->at[end].level = level;
        return;
    }
}

void branches_draw(const struct drawing *drawing, struct branches *b, const struct row_style *style)
{
    struct chain chain = {0};
    b->at[0].level = 0;
    for (uint32_t i = look_below(b, 0); i < b->count && !drawing->printer->failed;) {
        const struct branch *parent = &b->at[b->at[i].parent], *top = &b->at[i];
        const bool marked = parent->forks;
        const uint32_t level = b->at[i].level = parent->level + marked;
        uint32_t length = top->times > 1 ? top->times : 1, next;
        struct branch_row row = row_begin(drawing, top);
        chain.rows = marked ? 0 : chain.rows;
        chain.tops[chain.rows++ % PERIOD_ROWS] = i;
        while ((next = chain_next(b, i)) != BRANCHES_NONE && b->at[next].item == top->item) {
            i = next;
            b->at[i].level = level;
            row_add(drawing, &row, &b->at[i]);
            length++;
        }
        write_coloured(drawing, &row, style, level, marked, NULL, length);
        chain.ends = i;
        draw_again(drawing, b, style, &chain);
        i = next_shown(b, look_below(b, chain.ends), b->count);
    }
}
