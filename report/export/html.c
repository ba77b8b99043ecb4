/*
 * html.c - a self-contained page: its parts are in html/ and are combined at build time; the recording's data goes in between. The data's
 * format is described in html/data.js, which reads it.
 *
 * Samples with the same context, instruction, thread, time slice and certainty are added up to one entry. A wait has up to three entries:
 * the slices in which it begins and ends, and those between, so that the page does not grow with the wait's length. If samples were not
 * kept (bounded memory), each context is one entry, and the first entry, without a context, is what was not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/cache.h"
#include "profile/phasing.h"
#include "report/export/export.h"
#include "report/export/html_page.h"
#include "report/export/json.h"
#include "report/export/placed.h"

enum { SLICES = 400 };

struct page {
    const struct report *report;
    struct branches branches;
    struct table *contexts; /* node -> index of its branch */
    struct placed_samples samples;
    struct used_frames used;
    struct listing listing; /* the code of the samples */
    struct script_listing scripts;
    bool states; /* show threads' states: samples are waits, or waits and a clock's samples */
};

/* Makes entries of contexts if samples were not kept. */
static int place_contexts(struct page *p, struct fathom_error *err)
{
    const uint32_t count = p->branches.count, metrics = p->report->contexts->metrics->count;
    struct placed_samples *to = &p->samples;
    to->at = calloc(count, sizeof *to->at);
    to->values = calloc((size_t)count * metrics, sizeof *to->values);
    to->threads = calloc(1, sizeof *to->threads);
    if (!to->at || !to->values || !to->threads)
        return error_memory(err);
    to->threads[to->thread_count++].comm = "";
    for (uint32_t i = 0; i < count; i++) {
        const struct cct_node *node = p->branches.at[i].node;
        if (!export_has_values(p->report->contexts, &p->branches.at[i]))
            continue;
        memcpy(to->values + to->count * metrics, node->self, metrics * sizeof *to->values);
        to->at[to->count++] = (struct placed){.node = node, .span = 1, .sure = PLACED_SURE_STEPS};
    }
    return 0;
}

static const char *symfs_of(const struct view_options *view)
{
    return view->images ? image_cache_options(view->images)->symfs : NULL;
}

/* first, last: the time range of all events, ns. */
static int gather_data(struct page *p, const struct report *report, uint64_t first, uint64_t last,
                       struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    *p = (struct page){.report = report, .states = placed_lasting(contexts)};
    int rc = export_branches(contexts, &p->branches, err);
    if (rc < 0)
        return rc;
    p->contexts = table_new();
    bool good = p->contexts;
    for (uint32_t i = 0; good && i < p->branches.count; i++)
        good = table_set(p->contexts, (uintptr_t)p->branches.at[i].node, i);
    rc = good ? used_frames_find(contexts, &p->used, err) : error_memory(err);
    if (rc == 0)
        rc = listing_make(contexts, report->view->images, report->view->listed, &p->listing, err);
    if (rc == 0 && contexts->samples)
        rc = script_listing_make(contexts, &p->branches, symfs_of(report->view), report->view->listed,
                                 &p->scripts, err);
    if (rc == 0 && !contexts->samples) {
        rc = place_contexts(p, err);
    } else if (rc == 0) {
        struct placing placing = {SLICES, p->listing.places, first, last};
        rc = placed_add_up(contexts, &placing, &p->samples, err);
    }
    return rc;
}

static uint64_t context_of(const struct page *p, const struct placed *placed)
{
    const uint64_t *number = table_find(p->contexts, (uintptr_t)placed->node);
    return number ? *number : 0;
}

static void page_clear(struct page *p)
{
    table_free(p->contexts);
    used_frames_clear(&p->used);
    listing_clear(&p->listing);
    script_listing_clear(&p->scripts);
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
    if (!p->report->contexts->samples)
        json_number(json, "bounded", 1);
    json_flag(json, "lines", p->report->view->lines);
    json_number(json, "notInlined", h->uninlined_count);
    json_number(json, "weight", h->weight);
    json_number(json, "proved", h->proved);
    json_number(json, "inferred", h->inferred);
    json_number(json, "unknown", h->unknown);
    json_number(json, "partial", h->partial);
    json_real(json, "expected", h->expected, 1);
    json_text(json, "expectedBy", expected_names[heading_expected_by(h)]);
    json_number(json, "nanoseconds", p->samples.last - p->samples.first);
    json_number(json, "slices", SLICES);
    json_number(json, "sureSteps", PLACED_SURE_STEPS);
    json_array(json, "states");
    for (unsigned state = 0; p->states && state <= WAIT_REASONS; state++)
        json_text(json, NULL, state ? wait_reason_label(state) : "running");
    json_end(json);
}

void html_frames_write(struct json *json, const struct frames *frames, const struct used_frames *used)
{
    uint32_t count = used ? used->count : frames_count(frames);
    json_array(json, "frames");
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *f = frames_at(frames, used ? used->items[i] : i);
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
    html_frames_write(json, contexts->frames, &p->used);
}

/* The phase of each time slice, i.e. that of the interval in its middle, 0: none; empty if samples were not kept. */
static int write_phases(struct json *json, const struct page *p, struct fathom_error *err)
{
    const struct report *report = p->report;
    struct timeline *timeline = NULL;
    int rc = report->contexts->samples && report->view->phasing
                 ? phasing_find(report->contexts, report->view->phasing, &timeline, err)
                 : -ENODATA;
    if (rc < 0 && rc != -ENODATA)
        return rc;
    const double length = (double)(p->samples.last - p->samples.first) / SLICES;
    JSON_NUMBERS(json, "phases", timeline ? SLICES : 0,
                 timeline_phase_at(timeline, p->samples.first + (uint64_t)(length * ((double)i + 0.5))));
    timeline_free(timeline);
    return 0;
}

static int write_data(struct json *json, const struct page *p, struct fathom_error *err)
{
    const struct branches *b = &p->branches;
    uint32_t metrics = p->report->contexts->metrics->count;
    json_object(json, NULL);
    write_heading(json, p);
    write_tables(json, p);
    int rc = write_phases(json, p, err);
    if (rc == 0)
        rc = html_code_write(
            json, &p->listing,
            &(struct html_scripts){&p->scripts, p->report->contexts->frames, p->used.numbers}, err);
    if (rc < 0)
        return rc;
    json_object(json, "contexts"); /* so that the lists below are on one line each */
    JSON_NUMBERS(json, "parent", b->count, i ? b->at[i].parent : 0);
    JSON_NUMBERS(json, "frame", b->count, i ? p->used.numbers[b->at[i].item] : 0);
    json_end(json);
    json_object(json, "entries");
    JSON_NUMBERS(json, "context", p->samples.count, context_of(p, &p->samples.at[i]));
    JSON_NUMBERS(json, "thread", p->samples.count, p->samples.at[i].thread);
    JSON_NUMBERS(json, "place", p->samples.count, p->samples.at[i].place);
    JSON_NUMBERS(json, "slice", p->samples.count, p->samples.at[i].slice);
    JSON_NUMBERS(json, "sure", p->samples.count, p->samples.at[i].sure);
    if (p->states) {
        JSON_NUMBERS(json, "span", p->samples.count, p->samples.at[i].span);
        JSON_NUMBERS(json, "state", p->samples.count, p->samples.at[i].wait);
    }
    json_array(json, "values");
    for (uint32_t m = 0; m < metrics; m++)
        JSON_NUMBERS(json, NULL, p->samples.count, p->samples.values[i * metrics + m]);
    json_end(json);
    json_end(json);
    json_end(json);
    return 0;
}

int html_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer, .in_html = true};
    uint64_t first = UINT64_MAX, last = 0;
    int rc = 0;
    for (const struct report *r = report; r; r = r->next)
        for (size_t i = 0; i < r->contexts->sample_count; i++) {
            const uint64_t time = r->contexts->samples[i].time, began = placed_began(r->contexts, i);
            first = began < first ? began : first;
            last = time > last ? time : last;
        }
    printer_bytes(&printer, html_before_data, html_before_data_size);
    json_object(&json, NULL);
    json_array(&json, "events");
    for (; report && rc == 0; report = report->next) {
        struct page page;
        rc = gather_data(&page, report, first, last, err);
        if (rc == 0)
            rc = write_data(&json, &page, err);
        page_clear(&page);
    }
    json_end(&json);
    json_end(&json);
    printer_bytes(&printer, html_after_data, html_after_data_size);
    return rc == 0 ? printer_finish(&printer, err) : rc;
}
