/*
 * html.c - a page that stands by itself: html/ has its parts, which are put together at build time around the data of this
 * recording. What the data looks like is said in html/data.js, which reads it.
 *
 * Samples of one context, thread, slice of time and certainty are added up to one entry.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "report/export/export.h"
#include "report/export/html_page.h"
#include "report/export/json.h"

enum { SLICES = 400, SURE_STEPS = 20 };

struct entry {
    uint32_t context, thread;
    uint16_t slice;
    uint8_t sure; /* 0 to SURE_STEPS */
};

struct thread {
    uint32_t pid, tid;
    const char *comm; /* its last name */
};

struct page {
    const struct report *report;
    struct branches branches;
    struct table *contexts; /* node -> its number among the branches */
    struct table *known;    /* a hash of an entry -> its number */
    struct entry *entries;
    uint64_t *values; /* of each entry: of all metrics */
    size_t count, room, value_room;
    struct table *thread_numbers;
    struct thread *threads;
    size_t thread_count, thread_room;
    uint64_t first, last; /* ns */
};

static int number_contexts(struct page *p)
{
    for (uint32_t i = 0; i < p->branches.count; i++) {
        uint64_t *number = table_put(p->contexts, (uintptr_t)p->branches.at[i].node, NULL);
        if (!number)
            return -1;
        *number = i;
    }
    return 0;
}

static bool find_thread(struct page *p, const struct placed_sample *s, uint32_t *out)
{
    bool added;
    uint64_t *number = table_put(p->thread_numbers, (uint64_t)s->pid << 32 | s->tid, &added);
    if (!number)
        return false;
    if (added) {
        *number = p->thread_count;
        if (!vec_push(p->threads, p->thread_count, p->thread_room, (struct thread){s->pid, s->tid, s->comm}))
            return false;
    }
    p->threads[*number].comm = s->comm;
    *out = (uint32_t)*number;
    return true;
}

static uint16_t slice_of(const struct page *p, uint64_t time)
{
    uint64_t length = p->last - p->first;
    return length ? (uint16_t)((double)(time - p->first) / (double)length * (SLICES - 1)) : 0;
}

static int add_sample(struct page *p, size_t number)
{
    const struct contexts *contexts = p->report->contexts;
    const struct placed_sample *s = &contexts->samples[number];
    uint32_t metrics = contexts->metrics->count;
    const uint64_t *context = table_find(p->contexts, (uintptr_t)s->node);
    struct entry e = {.slice = slice_of(p, s->time), .sure = (uint8_t)(s->probability * SURE_STEPS + 0.5f)};
    if (!context || !find_thread(p, s, &e.thread))
        return -1;
    e.context = (uint32_t)*context;
    bool added;
    uint64_t *place = table_put(
        p->known,
        hash_u64(hash_u64((uint64_t)e.context << 32 | e.thread) + ((uint64_t)e.slice << 8 | e.sure)), &added);
    if (!place)
        return -1;
    if (added) {
        *place = p->count;
        if (!vec_reserve(p->values, p->count * metrics, p->value_room, metrics) ||
            !vec_push(p->entries, p->count, p->room, e))
            return -1;
        memset(p->values + *place * metrics, 0, metrics * sizeof *p->values);
    }
    for (uint32_t m = 0; m < metrics; m++) {
        uint64_t *to = &p->values[*place * metrics + m];
        *to = add_saturating(*to, contexts->sample_values[number * metrics + m]);
    }
    return 0;
}

static int gather(struct page *p)
{
    const struct contexts *contexts = p->report->contexts;
    p->contexts = table_new();
    p->known = table_new();
    p->thread_numbers = table_new();
    int rc = p->contexts && p->known && p->thread_numbers ? number_contexts(p) : -1;
    p->first = UINT64_MAX;
    for (size_t i = 0; i < contexts->sample_count; i++) {
        p->first = contexts->samples[i].time < p->first ? contexts->samples[i].time : p->first;
        p->last = contexts->samples[i].time > p->last ? contexts->samples[i].time : p->last;
    }
    for (size_t i = 0; rc == 0 && i < contexts->sample_count; i++)
        rc = add_sample(p, i);
    return rc;
}

static void page_clear(struct page *p)
{
    table_free(p->contexts);
    table_free(p->known);
    table_free(p->thread_numbers);
    free(p->entries);
    free(p->values);
    free(p->threads);
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
    json_number(json, "nanoseconds", p->last > p->first ? p->last - p->first : 0);
    json_number(json, "slices", SLICES);
    json_number(json, "sureSteps", SURE_STEPS);
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
    for (size_t i = 0; i < p->thread_count; i++) {
        json_array(json, NULL);
        json_number(json, NULL, p->threads[i].pid);
        json_number(json, NULL, p->threads[i].tid);
        json_text(json, NULL, p->threads[i].comm);
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
    JSON_NUMBERS(json, "context", p->count, p->entries[i].context);
    JSON_NUMBERS(json, "thread", p->count, p->entries[i].thread);
    JSON_NUMBERS(json, "slice", p->count, p->entries[i].slice);
    JSON_NUMBERS(json, "sure", p->count, p->entries[i].sure);
    json_array(json, "values");
    for (uint32_t m = 0; m < metrics; m++)
        JSON_NUMBERS(json, NULL, p->count, p->values[i * metrics + m]);
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
    if (gather(&page) == 0) {
        printer_bytes(&printer, html_before_data, html_before_data_size);
        write_data(&json, &page);
        printer_bytes(&printer, html_after_data, html_after_data_size);
        rc = printer_finish(&printer, err);
    } else {
        rc = error_memory(err);
    }
    page_clear(&page);
    return rc;
}
