/* script.c - see script.h. A path counts once for a line, however often a recursion repeats it. */
#include "report/annotate/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/cache.h"
#include "report/annotate/annotate.h"
#include "report/annotate/sources.h"
#include "report/text/printer.h"
#include "report/text/weight.h"

#define BESIDE     2u   /* lines shown before and after those with weight */
#define GAP        6u   /* more lines than this without weight, between two with weight, are left out */
#define TEXT_BYTES 200u /* of a line */

struct line_sum {
    uint32_t line;
    uint64_t total, self;           /* self: of paths without a further script function below it */
    const struct cct_node *counted; /* the last path that counted */
};

struct summing {
    const struct contexts *contexts;
    uint32_t item;
    struct table *by_line; /* index + 1 */
    struct line_sum *lines;
    size_t count, capacity;
    uint64_t total, self;
};

static const struct frame *frame_of(const struct contexts *c, const struct cct_node *node)
{
    return frames_at(c->frames, node->item);
}

static bool is_script(const struct contexts *c, const struct cct_node *node)
{
    return cct_parent(node) && frame_of(c, node)->kind == FRAME_SCRIPT;
}

/* The innermost script function from a node outwards; NULL: none. */
static const struct cct_node *script_above(const struct contexts *c, const struct cct_node *node)
{
    while (node && !is_script(c, node))
        node = cct_parent(node);
    return node;
}

/* Whether the whole name matches, or a part after a separator. */
static bool has_name(const struct frame *frame, const char *name)
{
    const size_t length = strlen(frame->name), wanted = strlen(name);
    return wanted && *name != '.' && length >= wanted && strcmp(frame->name + (length - wanted), name) == 0 &&
           (length == wanted || strchr(".:\\", frame->name[length - wanted - 1]));
}

uint64_t *script_weights(const struct contexts *c)
{
    uint64_t *weights = calloc((size_t)frames_count(c->frames) + 1, sizeof *weights);
    struct cct_node *root = cct_root(c->tree);
    for (struct cct_node *n = cct_next(root, root); n && weights; n = cct_next(root, n)) {
        const struct cct_node *script = n->self[0] ? script_above(c, n) : NULL;
        if (script)
            weights[script->item] = add_saturating(weights[script->item], n->self[0]);
    }
    return weights;
}

uint32_t script_find(const struct contexts *c, const char *name, uint64_t *weight)
{
    uint64_t *weights = script_weights(c);
    uint32_t best = FRAMES_NONE;
    *weight = 0;
    for (uint32_t i = 0; weights && i < frames_count(c->frames); i++)
        if (frames_at(c->frames, i)->kind == FRAME_SCRIPT && has_name(frames_at(c->frames, i), name) &&
            (best == FRAMES_NONE || weights[i] > *weight)) {
            best = i;
            *weight = weights[i];
        }
    free(weights);
    return best;
}

/* Returns the sums of a line; NULL: out of memory. */
static struct line_sum *sum_of(struct summing *s, uint32_t line)
{
    size_t place =
        table_index(s->by_line, line, s->lines, s->count, s->capacity, (struct line_sum){.line = line});
    return place == SIZE_MAX ? NULL : &s->lines[place];
}

/* Adds a node's self weight to the function's lines on its path. */
static bool add_path(struct summing *s, const struct cct_node *end)
{
    const struct contexts *c = s->contexts;
    const uint64_t weight = end->self[0];
    bool innermost = true, counted = false;
    uint32_t line = 0; /* of the frame above, i.e. the one visited before */
    for (const struct cct_node *n = end; cct_parent(n); n = cct_parent(n)) {
        const struct frame *frame = frame_of(c, n);
        if (frame->kind == FRAME_LINE) {
            line = (uint32_t)frame->address;
            continue;
        }
        if (frame->kind == FRAME_SCRIPT && n->item == s->item) {
            struct line_sum *sum = sum_of(s, line);
            if (!sum)
                return false;
            if (sum->counted != end)
                sum->total = add_saturating(sum->total, weight);
            sum->counted = end;
            if (innermost)
                sum->self = add_saturating(sum->self, weight);
            s->self = add_saturating(s->self, innermost ? weight : 0);
            s->total = add_saturating(s->total, counted ? 0 : weight);
            counted = true;
        }
        innermost = innermost && frame->kind != FRAME_SCRIPT;
        line = 0;
    }
    return true;
}

static int by_line(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static void write_weight(struct printer *p, uint64_t weight, uint64_t total, int columns, const char *unit)
{
    char share[SHARE_SIZE], text[WEIGHT_SIZE];
    if (weight)
        printer_write(p, "%7s %*s", share_format(share, weight, total), columns,
                      weight_format(text, weight, unit));
    else
        printer_write(p, "%7s %*s", "", columns, "");
}

static void write_line(struct printer *p, const struct line_sum *sum, uint32_t line, const struct summing *s,
                       struct sources *sources, const char *unit)
{
    char text[TEXT_BYTES + 1];
    size_t length = 0;
    const char *source =
        sources_line(sources, frames_at(s->contexts->frames, s->item)->source, line, &length);
    const int columns = weight_width(s->total, unit);
    write_weight(p, sum ? sum->total : 0, s->total, columns, unit);
    write_weight(p, sum ? sum->self : 0, s->total, columns, unit);
    length = length < TEXT_BYTES ? length : TEXT_BYTES;
    if (source)
        memcpy(text, source, length);
    text[length] = 0;
    if (line)
        printer_write(p, "  %5u  ", line);
    else
        printer_write(p, "  %5s  (the line is not known)", "");
    printer_foreign(p, text);
    printer_write(p, "\n");
}

/* Writes the lines from the first to the last with weight, and some around them. */
static void write_lines(struct printer *p, const struct summing *s, struct sources *sources, const char *unit)
{
    uint32_t next = 1;
    for (size_t i = 0; i < s->count; i++) {
        const uint32_t line = s->lines[i].line;
        if (line > next + GAP) {
            if (i > 0 && s->lines[i - 1].line)
                printer_write(p, "%*s\n", 2 * (8 + weight_width(s->total, unit)) + 7, "...");
            next = line - BESIDE;
        }
        for (; line && next < line; next++)
            write_line(p, NULL, next, s, sources, unit);
        write_line(p, &s->lines[i], line, s, sources, unit);
        next = line + 1;
    }
}

static int write_all(const struct report *report, struct summing *s, struct printer *p,
                     struct fathom_error *err)
{
    const struct view_options *view = report->view;
    const struct frame *frame = frames_at(s->contexts->frames, s->item);
    const int columns = weight_width(s->total, view->unit);
    char share[SHARE_SIZE], own[SHARE_SIZE], text[WEIGHT_SIZE];
    struct sources *sources = sources_new(view->images ? image_cache_options(view->images)->symfs : NULL);
    if (!sources)
        return error_memory(err);
    printer_write(p, "function: ");
    printer_foreign(p, frame->name);
    printer_write(p, " (");
    printer_foreign(p, frame->source ? frame->source : frame->image);
    printer_write(p, ")\nweight:   %s, %s of %s; without functions of the script that it calls %s\n\n",
                  weight_format(text, s->total, view->unit),
                  share_format(share, s->total, report->heading->weight),
                  report->heading->event ? report->heading->event : "all",
                  share_format(own, s->self, report->heading->weight));
    printer_write(p, "%7s %*s%7s %*s  %5s\n", "total", columns, weight_title(view->unit), "self", columns,
                  weight_title(view->unit), "line");
    sort_with(s->lines, s->count, by_line);
    write_lines(p, s, sources, view->unit);
    sources_free(sources);
    return printer_finish(p, err);
}

int script_annotate(const struct report *report, uint32_t item, FILE *out, struct fathom_error *err)
{
    struct summing s = {.contexts = report->contexts, .item = item, .by_line = table_new()};
    struct printer printer = {.out = out};
    struct cct_node *root = cct_root(report->contexts->tree);
    bool good = s.by_line != NULL;
    for (struct cct_node *n = cct_next(root, root); n && good; n = cct_next(root, n))
        good = !n->self[0] || add_path(&s, n);
    const int rc = good ? write_all(report, &s, &printer, err) : error_memory(err);
    table_free(s.by_line);
    free(s.lines);
    return rc;
}
