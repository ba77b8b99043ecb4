/*
 * html.c - a page that stands by itself: html/ has its parts, which are put together at build time around the data of this
 * recording. What the data looks like is said in html/data.js, which reads it.
 *
 * Samples of one context, thread, slice of time and certainty are added up to one entry.
 */
#include "base/hash.h"
#include "report/export/export.h"
#include "report/export/html_page.h"
#include "report/export/json.h"
#include "report/export/placed.h"

enum { SLICES = 400 };

struct page {
    const struct report *report;
    struct branches branches;
    struct table *contexts; /* node -> its number among the branches */
    struct placed_samples samples;
};

static int gather(struct page *p, struct fathom_error *err)
{
    p->contexts = table_new();
    bool good = p->contexts;
    for (uint32_t i = 0; good && i < p->branches.count; i++) {
        uint64_t *number = table_put(p->contexts, (uintptr_t)p->branches.at[i].node, NULL);
        good = number;
        if (good)
            *number = i;
    }
    return good ? placed_add_up(p->report->contexts, SLICES, &p->samples, err) : error_memory(err);
}

static uint64_t context_of(const struct page *p, const struct placed *placed)
{
    const uint64_t *number = table_find(p->contexts, (uintptr_t)placed->node);
    return number ? *number : 0;
}

static void page_clear(struct page *p)
{
    table_free(p->contexts);
    placed_clear(&p->samples);
    branches_clear(&p->branches);
}

/* Data --------------------------------------------------------------------------------------------------------- */

static void write_heading(struct json *json, const struct page *p)
{
    const struct view_heading *h = p->report->heading;
    json_text(json, "command", h->command);
    json_text(json, "event", h->event);
    json_number(json, "samples", h->samples);
    json_number(json, "leftOut", h->left_out);
    json_number(json, "lost", h->lost);
    json_number(json, "weight", h->weight);
    json_number(json, "precise", h->precise);
    json_number(json, "ambiguous", h->ambiguous);
    json_number(json, "inferred", h->inferred);
    json_number(json, "unknown", h->unknown);
    json_real(json, "expected", h->expected, 1);
    json_number(json, "nanoseconds", p->samples.last - p->samples.first);
    json_number(json, "slices", SLICES);
    json_number(json, "sureSteps", PLACED_SURE_STEPS);
}

void html_frames_write(struct json *json, const struct frames *frames)
{
    json_array(json, "frames");
    for (uint32_t i = 0; i < frames_count(frames); i++) {
        const struct frame *f = frames_at(frames, i);
        json_array(json, NULL);
        json_text(json, NULL, f->name);
        json_text(json, NULL, f->image);
        json_number(json, NULL, f->kind);
        json_end(json);
    }
    json_end(json);
}

static void write_tables(struct json *json, const struct page *p)
{
    const struct contexts *contexts = p->report->contexts;
    json_array(json, "metrics");
    for (uint32_t m = 0; m < contexts->metrics->count; m++) {
        json_array(json, NULL);
        json_text(json, NULL, contexts->metrics->at[m]->name);
        json_text(json, NULL, metrics_unit(contexts->metrics, m));
        json_end(json);
    }
    json_end(json);
    json_array(json, "threads");
    for (size_t i = 0; i < p->samples.thread_count; i++) {
        json_array(json, NULL);
        json_number(json, NULL, p->samples.threads[i].pid);
        json_number(json, NULL, p->samples.threads[i].tid);
        json_text(json, NULL, p->samples.threads[i].comm);
        json_end(json);
    }
    json_end(json);
    html_frames_write(json, contexts->frames);
}

static void write_data(struct json *json, const struct page *p)
{
    const struct branches *b = &p->branches;
    uint32_t metrics = p->report->contexts->metrics->count;
    json_object(json, NULL);
    write_heading(json, p);
    write_tables(json, p);
    json_object(json, "contexts"); /* so that the lists below are on one line each */
    JSON_NUMBERS(json, "parent", b->count, i ? b->at[i].parent : 0);
    JSON_NUMBERS(json, "frame", b->count, b->at[i].item);
    json_end(json);
    json_object(json, "entries");
    JSON_NUMBERS(json, "context", p->samples.count, context_of(p, &p->samples.at[i]));
    JSON_NUMBERS(json, "thread", p->samples.count, p->samples.at[i].thread);
    JSON_NUMBERS(json, "slice", p->samples.count, p->samples.at[i].slice);
    JSON_NUMBERS(json, "sure", p->samples.count, p->samples.at[i].sure);
    json_array(json, "values");
    for (uint32_t m = 0; m < metrics; m++)
        JSON_NUMBERS(json, NULL, p->samples.count, p->samples.values[i * metrics + m]);
    json_end(json);
    json_end(json);
    json_end(json);
}

int html_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct page page = {.report = report};
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer, .in_html = true};
    int rc = export_branches(report->contexts, &page.branches, err);
    if (rc < 0)
        return rc;
    rc = gather(&page, err);
    if (rc == 0) {
        printer_bytes(&printer, html_before_data, html_before_data_size);
        write_data(&json, &page);
        printer_bytes(&printer, html_after_data, html_after_data_size);
        rc = printer_finish(&printer, err);
    }
    page_clear(&page);
    return rc;
}
