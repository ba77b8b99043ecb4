/*
 * svg.c - a flame graph: the width of a box is its weight, callers are below. Hovering over a box shows its name, weight and
 * certainty. Unknown contexts are hatched, uncertain ones paler. It has no script.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/export/export.h"
#include "report/text/shorten.h"
#include "report/text/weight.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 18, TOP = 46, CHARACTER = 7 /* pixels */ };
#define NARROWEST 0.2 /* pixels: narrower boxes are left out */

struct drawing_svg {
    struct printer printer;
    const struct report *report;
    const struct branches *branches;
    double *starts; /* by branch: the weight to its left */
    double *ends;   /* by branch: the same plus the children already placed */
    uint32_t *depths;
    uint32_t deepest;
    double scale; /* pixels for a weight of 1 */
};

/* Leaves out characters that XML does not allow (XML 1.0, section 2.2). */
static void write_escaped(struct printer *printer, const char *text)
{
    while (*text) {
        uint32_t code = '?';
        size_t length = text_character(text, &code);
        const char *escape = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (!escape && *text == '"')
            escape = "&quot;";
        if (escape)
            printer_write(printer, "%s", escape);
        else if (!length || !text_shown(code))
            printer_write(printer, "?");
        else
            printer_bytes(printer, text, length);
        text += length ? length : 1;
    }
}

/* Writes a warm colour, by name, so that it is the same in every graph. */
static void write_colour(struct printer *printer, const char *name)
{
    unsigned hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    printer_write(printer, "rgb(%u,%u,%u)", 205 + hash % 50, 90 + (hash >> 8) % 130, 40 + (hash >> 16) % 50);
}

/* Writes a name into a box, if there is space for some of it. */
static void write_label(struct drawing_svg *d, const char *name, double x, double y, double width)
{
    size_t room = (size_t)(width / CHARACTER);
    if (room < 4)
        return;
    char *shown = strlen(name) > room ? name_shorten(name, room) : NULL;
    const char *text = shown ? shown : name;
    if (strlen(text) <= room) {
        printer_write(&d->printer, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 13);
        write_escaped(&d->printer, text);
        printer_write(&d->printer, "</text>");
    }
    free(shown);
}

static void write_box(struct drawing_svg *d, uint32_t i)
{
    const struct branch *branch = &d->branches->at[i];
    const struct contexts *contexts = d->report->contexts;
    const struct frame *frame = i ? frames_at(contexts->frames, branch->item) : NULL;
    const char *name = frame ? frame->name : "all";
    double x = MARGIN + d->starts[i] * d->scale, width = (double)branch->total * d->scale;
    double y = TOP + (double)(d->deepest - d->depths[i]) * ROW;
    char share[SHARE_SIZE], weight[WEIGHT_SIZE];
    const char *unit = d->report->view->unit ? d->report->view->unit : "weight";
    if (width < NARROWEST)
        return;
    bool hatched = frame && frame_is_unknown(frame);
    double sure = contexts->doubts && i ? branch_certainty(branch) : 1;
    printer_write(&d->printer, "<g><title>");
    write_escaped(&d->printer, name);
    if (frame && *frame->image) {
        printer_write(&d->printer, " (");
        write_escaped(&d->printer, frame->image);
        printer_write(&d->printer, ")");
    }
    printer_write(&d->printer, ": ");
    write_escaped(&d->printer, share_format(share, branch->total, d->branches->at[0].total)); /* "<0.1%" */
    printer_write(&d->printer, ", %s", weight_format(weight, branch->total, unit));
    if (strcmp(unit, WEIGHT_NS) != 0) {
        printer_write(&d->printer, " ");
        write_escaped(&d->printer, unit);
    }
    if (sure < 0.995)
        printer_write(&d->printer, ", %.0f%% sure", 100 * sure);
    printer_write(&d->printer, "</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"", x,
                  y, width, ROW - 1);
    if (hatched)
        printer_write(&d->printer, "url(#unknown)");
    else
        write_colour(&d->printer, name);
    printer_write(&d->printer, "\"");
    if (sure < 0.995)
        printer_write(&d->printer, " fill-opacity=\"%.2f\"", 0.3 + 0.7 * sure);
    printer_write(&d->printer, "/>");
    write_label(d, name, x, y, width);
    printer_write(&d->printer, "</g>\n");
}

/* Places each box to the right of its heavier siblings. */
static void lay_out(struct drawing_svg *d)
{
    const struct branches *b = d->branches;
    for (uint32_t i = 1; i < b->count; i++) {
        uint32_t parent = b->at[i].parent;
        d->depths[i] = d->depths[parent] + 1;
        d->starts[i] = d->ends[i] = d->ends[parent];
        d->ends[parent] += (double)b->at[i].total;
        if ((double)b->at[i].total * d->scale >= NARROWEST && d->depths[i] > d->deepest)
            d->deepest = d->depths[i];
    }
}

static void write_graph(struct drawing_svg *d)
{
    struct printer *p = &d->printer;
    const struct view_heading *h = d->report->heading;
    lay_out(d);
    printer_write(
        p,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
        "font-family=\"monospace\" font-size=\"11\">\n"
        "<defs><pattern id=\"unknown\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#ddd\"/>"
        "<rect width=\"2\" height=\"6\" fill=\"#bbb\"/></pattern></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        WIDTH, TOP + (d->deepest + 1) * ROW + MARGIN, WIDTH, TOP + (d->deepest + 1) * ROW + MARGIN);
    printer_write(p, "<text x=\"%d\" y=\"18\" font-size=\"14\">", MARGIN);
    write_escaped(p, h->command ? h->command : "");
    printer_write(p, "</text>\n<text x=\"%d\" y=\"36\">%llu samples of ", MARGIN,
                  (unsigned long long)h->samples);
    write_escaped(p, h->event ? h->event : "");
    printer_write(p, "; hatched: not known; paler: less sure</text>\n");
    for (uint32_t i = 0; i < d->branches->count && !p->failed; i++)
        write_box(d, i);
    printer_write(p, "</svg>\n");
}

int svg_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct branches b;
    int rc = export_branches(report->contexts, &b, err);
    if (rc < 0)
        return rc;
    struct drawing_svg d = {.printer.out = out,
                            .report = report,
                            .branches = &b,
                            .starts = calloc(b.count, sizeof *d.starts),
                            .ends = calloc(b.count, sizeof *d.ends),
                            .depths = calloc(b.count, sizeof *d.depths)};
    d.scale = b.at[0].total ? (WIDTH - 2.0 * MARGIN) / (double)b.at[0].total : 0;
    bool good = d.starts && d.ends && d.depths;
    if (good)
        write_graph(&d);
    rc = good ? printer_finish(&d.printer, err) : error_memory(err);
    free(d.starts);
    free(d.ends);
    free(d.depths);
    branches_clear(&b);
    return rc;
}
