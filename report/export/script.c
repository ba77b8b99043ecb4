/* script.c - see script.h. */
#include "report/export/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "infer/contexts/certainty.h"
#include "report/views/report.h"

struct script_line {
    const struct report *report;
    const struct placed_sample *sample;
    const uint64_t *values;
    const uint32_t *items; /* of its path, from the root inwards */
    size_t depth;
};

static void write_comm(const struct script_line *l, struct printer *p)
{
    printer_foreign(p, l->sample->comm);
}

static void write_pid(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%u", l->sample->pid);
}

static void write_tid(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%u", l->sample->tid);
}

static void write_time(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%llu.%09llu", (unsigned long long)(l->sample->time / 1000000000u),
                  (unsigned long long)(l->sample->time % 1000000000u));
}

static void write_event(const struct script_line *l, struct printer *p)
{
    printer_foreign(p, l->report->heading->event ? l->report->heading->event : "?");
}

static void write_metric(const struct script_line *l, struct printer *p, const char *name)
{
    const struct metrics *metrics = l->report->contexts->metrics;
    for (uint32_t m = 0; m < metrics->count; m++)
        if (strcmp(metrics->at[m]->name, name) == 0)
            printer_write(p, "%llu", (unsigned long long)l->values[m]);
}

static void write_weight(const struct script_line *l, struct printer *p)
{
    write_metric(l, p, "weight");
}

static void write_latency(const struct script_line *l, struct printer *p)
{
    write_metric(l, p, "latency");
}

static void write_sure(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%.3f", (double)l->sample->probability);
}

static void write_kind(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%s", certainty_names[l->sample->certainty]);
}

static void write_path(const struct script_line *l, struct printer *p)
{
    for (size_t i = 0; i < l->depth; i++) {
        printer_write(p, i ? ";" : "");
        for (const char *c = frames_at(l->report->contexts->frames, l->items[i])->name; *c; c++)
            printer_write(p, "%c", *c == ';' ? ':' : *c);
    }
}

static void write_symbol(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%s",
                  l->depth ? frames_at(l->report->contexts->frames, l->items[l->depth - 1])->name : "");
}

static void write_image(const struct script_line *l, struct printer *p)
{
    printer_write(p, "%s",
                  l->depth ? frames_at(l->report->contexts->frames, l->items[l->depth - 1])->image : "");
}

static void write_address(const struct script_line *l, struct printer *p)
{
    const struct placed_sample *s = l->sample;
    if (s->image) {
        printer_foreign(p, image_name(s->image));
        printer_write(p, "+0x%llx", (unsigned long long)s->address);
    }
}

const struct script_field script_field_table[] = {
    {"comm", "the thread's name", write_comm},
    {"pid", "process", write_pid},
    {"tid", "thread", write_tid},
    {"time", "seconds, of the recording's clock", write_time},
    {"event", "what was sampled", write_event},
    {"weight", "events that the sample stands for; of a clock, ns", write_weight},
    {"latency", "cycles of a memory access, where samples have it", write_latency},
    {"kind", "whether its path is proved, inferred or unknown", write_kind},
    {"sure", "how probable its path is, 0 to 1", write_sure},
    {"symbol", "the path's last function", write_symbol},
    {"image", "its program or library", write_image},
    {"address", "the sampled instruction: its file, and its address there", write_address},
    {"path", "functions from the root on, parted by ';'", write_path},
    {0},
};

int script_fields_parse(const char *names, struct script_fields *out, struct fathom_error *err)
{
    *out = (struct script_fields){0};
    for (;; names++) {
        size_t length = strcspn(names, ",");
        const struct script_field *f = script_field_table;
        while (f->name && !(strlen(f->name) == length && memcmp(f->name, names, length) == 0))
            f++;
        if (!f->name)
            return error_set(err, EINVAL, "there is no field '%.*s'; fathom script --help lists them",
                             (int)(length < 64 ? length : 64), names);
        if (out->count == SCRIPT_FIELDS_MAX)
            return error_set(err, EINVAL, "more than %d fields", SCRIPT_FIELDS_MAX);
        out->at[out->count++] = f;
        names += length;
        if (!*names)
            return 0;
    }
}

/* Finds the items of a node's path. */
static bool find_path(const struct cct_node *node, uint32_t **items, size_t *capacity, size_t *depth)
{
    size_t count = 0;
    for (const struct cct_node *n = node; cct_parent(n); n = cct_parent(n))
        count++;
    if (!vec_reserve(*items, 0, *capacity, count))
        return false;
    *depth = count;
    for (const struct cct_node *n = node; count; n = cct_parent(n))
        (*items)[--count] = n->item;
    return true;
}

int script_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    const struct script_fields *fields = report->view->fields;
    struct printer printer = {.out = out};
    uint32_t *items = NULL;
    size_t capacity = 0, depth = 0;
    bool good = true;
    for (size_t i = 0; i < contexts->sample_count && good && !printer.failed; i++) {
        good = find_path(contexts->samples[i].node, &items, &capacity, &depth);
        struct script_line line = {report, &contexts->samples[i],
                                   contexts->sample_values + i * contexts->metrics->count, items, depth};
        for (size_t f = 0; good && f < fields->count; f++) {
            printer_write(&printer, f ? "\t" : "");
            fields->at[f]->write(&line, &printer);
        }
        printer_write(&printer, "\n");
    }
    free(items);
    return good ? printer_finish(&printer, err) : error_memory(err);
}
