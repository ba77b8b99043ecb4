/*
 * speedscope.c - see export.h. A profile for each metric and thread, with its samples by time; if samples were not kept, each context is
 * one sample.
 */
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "report/export/export.h"
#include "report/export/json.h"
#include "report/export/placed.h"
#include "report/text/weight.h"

static void write_frames(struct json *json, const struct frames *frames, const struct used_frames *used)
{
    json_object(json, "shared");
    json_array(json, "frames");
    for (uint32_t i = 0; i < used->count; i++) {
        const struct frame *f = frames_at(frames, used->items[i]);
        json_object(json, NULL);
        json_text(json, "name", f->name);
        if (f->source)
            json_number(json, "line", f->address);
        if (f->source || *f->image)
            json_text(json, "file", f->source ? f->source : f->image);
        json_end(json);
    }
    json_object(json, NULL);
    json_text(json, "name", EXPORT_NOT_KEPT);
    json_end(json);
    json_end(json);
    json_end(json);
}

/* One sample of a profile. */
struct entry {
    const struct cct_node *node;
    const uint64_t *values; /* of all metrics */
};

struct entries {
    struct entry *at;
    size_t count, *begins;        /* index of each thread's first, and the end */
    struct placed_samples placed; /* for threads; empty: entries are contexts */
};

static int list_samples(const struct contexts *contexts, struct entries *out, struct fathom_error *err)
{
    int rc = placed_add_up(contexts, &(struct placing){.slices = 1}, &out->placed, err);
    size_t *sorted = rc < 0 ? NULL : placed_by_thread(&out->placed, out->count, &out->begins);
    for (size_t i = 0; sorted && i < out->count; i++)
        out->at[i] = (struct entry){contexts->samples[sorted[i]].node,
                                    contexts->sample_values + sorted[i] * contexts->metrics->count};
    free(sorted);
    return rc < 0 ? rc : sorted ? 0 : error_memory(err);
}

static int list_contexts(const struct branches *b, struct entries *out, struct fathom_error *err)
{
    out->begins = calloc(2, sizeof *out->begins);
    if (!out->begins)
        return error_memory(err);
    out->begins[1] = out->count;
    for (size_t i = 0; i < out->count; i++)
        out->at[i] = (struct entry){b->at[i].node, b->at[i].node->self};
    return 0;
}

/* Lists the samples of each thread by time, or contexts if samples were not kept. */
static int entries_list(const struct contexts *contexts, const struct branches *b, struct entries *out,
                        struct fathom_error *err)
{
    bool kept = contexts->samples;
    out->count = kept ? contexts->sample_count : b->count;
    out->at = calloc(out->count + 1, sizeof *out->at);
    if (!out->at)
        return error_memory(err);
    return kept ? list_samples(contexts, out, err) : list_contexts(b, out, err);
}

static void write_stack(struct json *json, const struct used_frames *used, const struct cct_node *node,
                        uint32_t *path)
{
    size_t depth = 0;
    json_array(json, NULL);
    if (!cct_parent(node))
        json_number(json, NULL, used->count);
    for (; cct_parent(node); node = cct_parent(node))
        path[depth++] = used->numbers[node->item];
    while (depth--)
        json_number(json, NULL, path[depth]);
    json_end(json);
}

/* path: scratch space for the deepest one. */
static void write_profile(struct json *json, const struct contexts *contexts, const struct used_frames *used,
                          const struct entries *entries, uint32_t thread, uint32_t metric, uint32_t *path)
{
    const char *unit = metrics_unit(contexts->metrics, metric), *what = contexts->metrics->at[metric]->name;
    const struct placed_thread *of = entries->placed.threads ? &entries->placed.threads[thread] : NULL;
    const struct entry *first = entries->at + entries->begins[thread],
                       *end = entries->at + entries->begins[thread + 1];
    uint64_t total = 0;
    char name[96];
    snprintf(name, sizeof name, of ? "%s: %s/%u" : "%s", what, of ? of->comm : "", of ? of->tid : 0);
    json_object(json, NULL);
    json_text(json, "type", "sampled");
    json_text(json, "name", name);
    json_text(json, "unit",
              strcmp(unit, WEIGHT_NS) == 0 ? "nanoseconds"
              : strcmp(unit, "bytes") == 0 ? "bytes"
                                           : "none");
    json_array(json, "samples");
    for (const struct entry *e = first; e < end; e++)
        if (e->values[metric])
            write_stack(json, used, e->node, path);
    json_end(json);
    json_array(json, "weights");
    for (const struct entry *e = first; e < end; e++)
        if (e->values[metric]) {
            json_number(json, NULL, e->values[metric]);
            total = add_saturating(total, e->values[metric]);
        }
    json_end(json);
    json_number(json, "startValue", 0);
    json_number(json, "endValue", total);
    json_end(json);
}

int speedscope_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    struct branches b;
    int rc = export_branches(contexts, &b, err);
    if (rc < 0)
        return rc;
    struct used_frames used = {0};
    struct entries entries = {0};
    uint32_t *path = malloc(b.count * sizeof *path);
    rc = path ? used_frames_find(contexts, &used, err) : error_memory(err);
    if (rc == 0)
        rc = entries_list(contexts, &b, &entries, err);
    if (rc == 0) {
        size_t threads = contexts->samples ? entries.placed.thread_count : 1;
        json_object(&json, NULL);
        json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
        json_text(&json, "exporter", "fathom");
        json_text(&json, "name", report->heading->command ? report->heading->command : "fathom");
        write_frames(&json, contexts->frames, &used);
        json_array(&json, "profiles");
        for (uint32_t m = 0; m < contexts->metrics->count; m++)
            for (uint32_t t = 0; t < threads; t++)
                write_profile(&json, contexts, &used, &entries, t, m, path);
        json_end(&json);
        json_end(&json);
        rc = printer_finish(&printer, err);
    }
    used_frames_clear(&used);
    placed_clear(&entries.placed);
    free(entries.at);
    free(entries.begins);
    free(path);
    branches_clear(&b);
    return rc;
}
