/*
 * accessed.c - views of what paths end in: a table of accessed memory or of locks, and a table of each with its paths. An access is
 * a frame of the kind FRAME_DATA at the end of a path, perhaps with FRAME_FOUND below it (profile/framing.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "profile/access.h"
#include "report/views/path_row.h"
#include "report/views/views.h"

#define NO_METRIC UINT32_MAX

/* Names of rows. */
struct accessed_wording {
    const char *what, *one, *many;            /* of accessed data */
    const char *path, *one_path, *many_paths; /* of accessed data with a path */
    bool weight;                              /* show a column of weights */
};

/* Accesses to the same data, on one path or on all. */
struct accessed {
    const struct cct_node *node; /* of the data, below its path. NULL: on all paths */
    uint32_t item;
    uint64_t weight, samples, latency;
    uint64_t found[ACCESS_SOURCES]; /* weight */
};

struct memory {
    const struct drawing *drawing;
    const struct accessed_wording *words;
    struct accessed *rows;
    size_t count, capacity;
    uint32_t samples, latency;  /* numbers of these metrics, or NO_METRIC */
    bool shown[ACCESS_SOURCES]; /* columns */
};

static uint32_t find_metric(const struct metrics *metrics, const char *name)
{
    for (uint32_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->at[i]->name, name) == 0)
            return i;
    return NO_METRIC;
}

static void add_values(struct memory *m, struct accessed *to, const struct cct_node *node,
                       enum access_source source)
{
    to->weight = add_saturating(to->weight, node->self[0]);
    to->found[source] = add_saturating(to->found[source], node->self[0]);
    if (m->samples != NO_METRIC)
        to->samples = add_saturating(to->samples, node->self[m->samples]);
    if (m->latency != NO_METRIC)
        to->latency = add_saturating(to->latency, node->self[m->latency]);
}

static void add_row(struct accessed *to, const struct accessed *row)
{
    to->weight = add_saturating(to->weight, row->weight);
    to->samples = add_saturating(to->samples, row->samples);
    to->latency = add_saturating(to->latency, row->latency);
    for (unsigned s = 0; s < ACCESS_SOURCES; s++)
        to->found[s] = add_saturating(to->found[s], row->found[s]);
}

/* Makes a row for each access in the tree. */
static int find_accesses(struct memory *m, struct fathom_error *err)
{
    const struct frames *frames = m->drawing->frames;
    struct cct_node *root = cct_root(m->drawing->contexts->tree);
    for (struct cct_node *n = root; n; n = cct_next(root, n)) {
        if (n == root || frames_at(frames, n->item)->kind != FRAME_DATA)
            continue;
        struct accessed row = {.node = n, .item = n->item};
        for (struct cct_node *c = n; c; c = cct_next(n, c)) {
            const struct frame *frame = frames_at(frames, c->item);
            bool known = frame->kind == FRAME_FOUND && frame->address < ACCESS_SOURCES;
            add_values(m, &row, c, known ? (enum access_source)frame->address : ACCESS_UNKNOWN);
        }
        if (row.weight && !vec_push(m->rows, m->count, m->capacity, row))
            return error_memory(err);
    }
    return 0;
}

static int compare_rows(const void *a, const void *b, void *frames)
{
    const struct accessed *x = a, *y = b;
    return order_of(y->weight, x->weight)
               ?: (x->node ? path_compare(frames, x->node, y->node)
                           : frame_compare(frames, x->item, y->item));
}

static void write_heading(const struct memory *m, const char *last)
{
    struct printer *p = m->drawing->printer;
    printer_write(p, "%7s", "share");
    if (m->words->weight)
        printer_write(p, "  %*s", WEIGHT_COLUMNS,
                      strcmp(m->drawing->unit, WEIGHT_NS) == 0 ? "time" : m->drawing->unit);
    if (m->latency != NO_METRIC)
        printer_write(p, "  %7s", "cycles");
    for (unsigned s = 0; s < ACCESS_SOURCES; s++)
        if (m->shown[s])
            printer_write(p, "  %7s", access_source_name(s));
    printer_write(p, "  %s\n", last);
}

static void write_figures(const struct memory *m, const struct accessed *row)
{
    struct printer *p = m->drawing->printer;
    char share[SHARE_SIZE], weight[WEIGHT_SIZE];
    printer_write(p, "%7s", share_format(share, row->weight, m->drawing->whole));
    if (m->words->weight)
        printer_write(p, "  %*s", WEIGHT_COLUMNS, weight_format(weight, row->weight, m->drawing->unit));
    if (m->latency != NO_METRIC && row->latency)
        printer_write(p, "  %7llu", (unsigned long long)(row->latency / (row->samples ? row->samples : 1)));
    else if (m->latency != NO_METRIC)
        printer_write(p, "  %7s", "");
    for (unsigned s = 0; s < ACCESS_SOURCES; s++)
        if (m->shown[s])
            printer_write(p, "  %7s", row->found[s] ? share_format(share, row->found[s], row->weight) : "");
    printer_write(p, "  ");
}

/* Sorts and writes rows, with their paths if they have any. */
static void write_rows(const struct memory *m, struct accessed *rows, size_t count, const char *one,
                       const char *many)
{
    const struct drawing *d = m->drawing;
    size_t shown = 0;
    uint64_t hidden = 0;
    if (count)
        qsort_r(rows, count, sizeof *rows, compare_rows, (void *)d->frames);
    for (size_t i = 0; i < count && !d->printer->failed; i++) {
        if (!weighs_enough(d, rows[i].weight) || (d->options->max_rows && shown == d->options->max_rows)) {
            hidden = add_saturating(hidden, rows[i].weight);
            continue;
        }
        shown++;
        printer_write(d->printer, "%s", row_colour(d->options->colour, rows[i].weight, d->whole));
        size_t began = d->printer->written;
        write_figures(m, &rows[i]);
        frame_write(d->printer, frames_at(d->frames, rows[i].item),
                    *frames_at(d->frames, rows[i].item)->image, room_left(d, began));
        printer_write(d->printer, "%s\n", row_colour_end(d->options->colour, rows[i].weight, d->whole));
        if (rows[i].node)
            path_row_write(d, cct_parent(rows[i].node), NULL);
    }
    left_out_write(d, count - shown, one, many, hidden, LEFT_OUT_ALL);
}

/* Writes the rows by data, over all paths. */
static int write_by_data(const struct memory *m, struct fathom_error *err)
{
    size_t items = frames_count(m->drawing->frames), count = 0;
    struct accessed *sums = calloc(items + 1, sizeof *sums);
    if (!sums)
        return error_memory(err);
    for (size_t i = 0; i < m->count; i++) {
        sums[m->rows[i].item].item = m->rows[i].item;
        add_row(&sums[m->rows[i].item], &m->rows[i]);
    }
    for (size_t i = 0; i < items; i++)
        if (sums[i].weight)
            sums[count++] = sums[i];
    write_heading(m, m->words->what);
    write_rows(m, sums, count, m->words->one, m->words->many);
    free(sums);
    return 0;
}

static int write_accessed(const struct drawing *drawing, const struct accessed_wording *words,
                          struct fathom_error *err)
{
    const struct metrics *metrics = drawing->contexts->metrics;
    struct memory m = {.drawing = drawing,
                       .words = words,
                       .samples = find_metric(metrics, "samples"),
                       .latency = find_metric(metrics, "latency")};
    int rc = find_accesses(&m, err);
    bool told = false;
    for (size_t i = 0; rc == 0 && i < m.count; i++)
        for (unsigned s = 0; s < ACCESS_SOURCES; s++) {
            m.shown[s] |= m.rows[i].found[s] > 0;
            told |= m.rows[i].found[s] > 0 && s != ACCESS_UNKNOWN;
        }
    m.shown[ACCESS_UNKNOWN] &= told;
    if (rc == 0)
        rc = write_by_data(&m, err);
    if (rc == 0) {
        printer_write(drawing->printer, "\n");
        write_heading(&m, words->path);
        write_rows(&m, m.rows, m.count, words->one_path, words->many_paths);
    }
    free(m.rows);
    return rc;
}

int memory_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct accessed_wording words = {.what = "data",
                                                  .one = "piece of data",
                                                  .many = "pieces of data",
                                                  .path = "data, and below it the path that accessed it",
                                                  .one_path = "access",
                                                  .many_paths = "accesses"};
    return write_accessed(drawing, &words, err);
}

/* Whether any path ends in an access. */
static bool any_access(const struct drawing *drawing)
{
    struct cct_node *root = cct_root(drawing->contexts->tree);
    for (struct cct_node *n = root; n; n = cct_next(root, n))
        if (n != root && frames_at(drawing->frames, n->item)->kind == FRAME_DATA)
            return true;
    return false;
}

int locks_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct accessed_wording words = {.what = "lock",
                                                  .one = "lock",
                                                  .many = "locks",
                                                  .path = "lock, and below it the path that waits for it",
                                                  .one_path = "path",
                                                  .many_paths = "paths",
                                                  .weight = true};
    if (!any_access(drawing)) {
        printer_write(drawing->printer, "no thread waited for a lock\n");
        return 0;
    }
    const int rc = write_accessed(drawing, &words, err);
    return rc == 0 ? releases_write(drawing, err) : rc;
}
