/*
 * firefox.c - the processed format of the Firefox Profiler (docs-developer/CHANGELOG-formats.md of
 * https://github.com/firefox-devtools/profiler): all samples over time, by thread. A sample's category is how its
 * path is known. As categories belong to frames in that format, each frame is a pair of function and category.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "infer/contexts/certainty.h"
#include "report/export/export.h"
#include "report/export/json.h"
#include "report/export/placed.h"
#include "report/text/weight.h"

#define VERSION 62 /* preprocessedProfileVersion: the tables are shared by all threads */
#define GECKO   24 /* the version that its numbers go with */

#define NONE UINT32_MAX

/* How a sample's path is known. The first is the default, which has to be grey. */
enum category { UNKNOWN, PROVED, INFERRED, CATEGORIES };
static const struct {
    const char *name, *colour;
} categories[CATEGORIES] = {
    [UNKNOWN] = {"unknown", "grey"}, [PROVED] = {"proved", "green"}, [INFERRED] = {"inferred", "blue"}};
static const enum category category_of[] = {
    [CERTAINTY_UNKNOWN] = UNKNOWN, [CERTAINTY_PROVED] = PROVED, [CERTAINTY_INFERRED] = INFERRED};

struct file {
    const char *name; /* in frames */
    uint32_t text;
};

struct located { /* a frame of the format */
    uint32_t item;
    enum category category;
};

struct stack {
    uint32_t prefix; /* the callers' stack, which has a smaller number; NONE: outermost */
    uint32_t frame;
};

/* The tables of the format. */
struct tables {
    struct names *texts;
    struct file *files;
    struct located *frames;
    struct stack *stacks;
    size_t file_count, frame_count, stack_count;
    size_t file_capacity, frame_capacity, stack_capacity;
    struct used_frames used;
    uint32_t *name_of;          /* text of each used frame, by its number */
    uint32_t *file_of;          /* file of each used frame; NONE: none */
    uint32_t *stack_of;         /* stack of each sample; NONE: none */
    struct table *file_index;   /* text of a name -> number + 1 */
    struct table *frame_index;  /* item * CATEGORIES + category -> number + 1 */
    struct table *stack_index;  /* address of a node + category (below the node's alignment) -> number + 1 */
    const struct cct_node **up; /* scratch: nodes whose stacks are to be made */
    size_t up_capacity;
};

struct recording {
    const struct report *report;
    const struct contexts *contexts;
    struct placed_samples placed; /* for threads and times */
    struct tables tables;
};

/* Making the tables --------------------------------------------------------------------------------------------- */

static bool file_for(struct tables *t, const char *name, uint32_t *out)
{
    struct file file = {name, names_intern(t->texts, name)};
    size_t number = file.text == NAMES_NONE ? SIZE_MAX
                                            : table_index(t->file_index, file.text, t->files, t->file_count,
                                                          t->file_capacity, file);
    *out = (uint32_t)number;
    return number != SIZE_MAX;
}

/* The stack that ends in a node, below an existing stack. false: out of memory. */
static bool add_stack(struct tables *t, const struct cct_node *node, enum category category, uint32_t *stack)
{
    size_t frame = table_index(t->frame_index, (uint64_t)node->item * CATEGORIES + category, t->frames,
                               t->frame_count, t->frame_capacity, (struct located){node->item, category});
    size_t number = frame == SIZE_MAX
                        ? SIZE_MAX
                        : table_index(t->stack_index, (uintptr_t)node + category, t->stacks, t->stack_count,
                                      t->stack_capacity, (struct stack){*stack, (uint32_t)frame});
    *stack = (uint32_t)number;
    return number != SIZE_MAX;
}

/* Adds the stack that ends in a node, after those of its callers. */
static bool stack_for(struct tables *t, const struct cct_node *node, enum category category, uint32_t *out)
{
    size_t depth = 0;
    const uint64_t *known = NULL;
    for (; cct_parent(node) && !known; node = cct_parent(node)) {
        known = table_find(t->stack_index, (uintptr_t)node + category);
        if (!known && !vec_push(t->up, depth, t->up_capacity, node))
            return false;
    }
    *out = known ? (uint32_t)*known - 1 : NONE;
    bool good = true;
    while (depth-- && good)
        good = add_stack(t, t->up[depth], category, out);
    return good;
}

static bool fill_tables(struct tables *t, const struct contexts *contexts)
{
    for (uint32_t i = 0; i < t->used.count; i++) {
        const struct frame *f = frames_at(contexts->frames, t->used.items[i]);
        t->name_of[i] = names_intern(t->texts, f->name);
        t->file_of[i] = NONE;
        if (t->name_of[i] == NAMES_NONE || (*f->image && !file_for(t, f->image, &t->file_of[i])))
            return false;
    }
    for (size_t i = 0; i < contexts->sample_count; i++) {
        const struct placed_sample *s = &contexts->samples[i];
        if (!stack_for(t, s->node, category_of[s->certainty], &t->stack_of[i]))
            return false;
    }
    return true;
}

/* -ENOMEM; clear it even then. */
static int tables_make(const struct contexts *contexts, struct tables *out, struct fathom_error *err)
{
    struct used_frames used = {0};
    int rc = used_frames_find(contexts, &used, err);
    *out = (struct tables){.used = used,
                           .texts = names_new(),
                           .name_of = calloc(used.count + 1ul, sizeof *out->name_of),
                           .file_of = calloc(used.count + 1ul, sizeof *out->file_of),
                           .stack_of = calloc(contexts->sample_count + 1, sizeof *out->stack_of),
                           .file_index = table_new(),
                           .frame_index = table_new(),
                           .stack_index = table_new()};
    if (rc < 0)
        return rc;
    return out->texts && out->name_of && out->file_of && out->stack_of && out->file_index &&
                   out->frame_index && out->stack_index && fill_tables(out, contexts)
               ? 0
               : error_memory(err);
}

static void tables_clear(struct tables *t)
{
    names_free(t->texts);
    free(t->files);
    free(t->frames);
    free(t->stacks);
    free(t->name_of);
    free(t->file_of);
    free(t->stack_of);
    free(t->up);
    table_free(t->file_index);
    table_free(t->frame_index);
    table_free(t->stack_index);
    used_frames_clear(&t->used);
}

/* Writing them ------------------------------------------------------------------------------------------------- */

static void number_or_null(struct json *json, uint32_t number)
{
    json_real(json, NULL, number == NONE ? (double)NAN : number, 0);
}

/* A column with the same value for all; NAN: null. */
static void same_number(struct json *json, const char *key, size_t count, double value)
{
    JSON_LIST(json, key, count, json_real(json, NULL, value, 0));
}

/* The address is that of the function, as symbols are already known. */
static void write_frame_table(struct json *json, const struct recording *r)
{
    static const char *const zeros[] = {"subcategory", "inlineDepth", "innerWindowID"}, *const nulls[] = {
                                                                                            "nativeSymbol",
                                                                                            "line", "column"};
    const struct tables *t = &r->tables;
    json_object(json, "frameTable");
    json_number(json, "length", t->frame_count);
    json_array(json, "address");
    for (size_t i = 0; i < t->frame_count; i++) {
        const struct frame *f = frames_at(r->contexts->frames, t->frames[i].item);
        json_real(json, NULL, *f->image ? (double)f->address : -1, 0);
    }
    json_end(json);
    JSON_NUMBERS(json, "func", t->frame_count, t->used.numbers[t->frames[i].item]);
    JSON_NUMBERS(json, "category", t->frame_count, t->frames[i].category);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        same_number(json, zeros[i], t->frame_count, 0);
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        same_number(json, nulls[i], t->frame_count, (double)NAN);
    json_end(json);
}

static void write_func_table(struct json *json, const struct tables *t)
{
    static const char *const nulls[] = {"source", "lineNumber", "columnNumber"};
    const uint32_t count = t->used.count;
    json_object(json, "funcTable");
    json_number(json, "length", count);
    JSON_NUMBERS(json, "name", count, t->name_of[i]);
    JSON_LIST(json, "resource", count, json_real(json, NULL, t->file_of[i] == NONE ? -1. : t->file_of[i], 0));
    JSON_LIST(json, "isJS", count, json_flag(json, NULL, false));
    JSON_LIST(json, "relevantForJS", count, json_flag(json, NULL, false));
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        same_number(json, nulls[i], count, (double)NAN);
    json_end(json);
}

static void write_stack_table(struct json *json, const struct tables *t)
{
    json_object(json, "stackTable");
    json_number(json, "length", t->stack_count);
    JSON_LIST(json, "prefix", t->stack_count, number_or_null(json, t->stacks[i].prefix));
    JSON_NUMBERS(json, "frame", t->stack_count, t->stacks[i].frame);
    json_end(json);
}

static void write_resource_table(struct json *json, const struct tables *t)
{
    json_object(json, "resourceTable");
    json_number(json, "length", t->file_count);
    JSON_NUMBERS(json, "lib", t->file_count, i);
    JSON_NUMBERS(json, "name", t->file_count, t->files[i].text);
    same_number(json, "host", t->file_count, (double)NAN);
    same_number(json, "type", t->file_count, 1); /* a library */
    json_end(json);
}

/* Writes a required table for which there is no data. */
static void write_empty(struct json *json, const char *key, const char *const *columns)
{
    json_object(json, key);
    json_number(json, "length", 0);
    for (; *columns; columns++)
        same_number(json, *columns, 0, 0);
    json_end(json);
}

static void write_shared(struct json *json, const struct recording *r)
{
    json_object(json, "shared");
    write_stack_table(json, &r->tables);
    write_frame_table(json, r);
    write_func_table(json, &r->tables);
    write_resource_table(json, &r->tables);
    write_empty(json, "nativeSymbols",
                (const char *const[]){"address", "functionSize", "libIndex", "name", NULL});
    write_empty(json, "sources",
                (const char *const[]){"id", "filename", "startLine", "startColumn", "sourceMapURL", NULL});
    JSON_LIST(json, "stringArray", names_count(r->tables.texts),
              json_text(json, NULL, names_text(r->tables.texts, (uint32_t)i)));
    json_end(json);
}

/* Breakpad's form of a build-id: a GUID of its first 16 bytes, whose first three fields are numbers in little-endian
 * order, and an age of 0. */
static void format_breakpad(const struct build_id *id, char out[34])
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < sizeof order; i++) {
        unsigned byte = order[i] < id->size ? id->bytes[order[i]] : 0;
        out[2 * i] = "0123456789ABCDEF"[byte >> 4];
        out[2 * i + 1] = "0123456789ABCDEF"[byte & 15];
    }
    out[32] = '0';
    out[33] = 0;
}

static void write_libs(struct json *json, const struct recording *r)
{
    json_array(json, "libs");
    for (size_t i = 0; i < r->tables.file_count; i++) {
        const char *name = r->tables.files[i].name;
        const struct frame_image *image = frames_image(r->contexts->frames, name);
        const struct build_id id = image ? image->build_id : (struct build_id){0};
        char breakpad[34], code[2 * BUILD_ID_MAX + 1];
        format_breakpad(&id, breakpad);
        build_id_format(&id, code);
        json_object(json, NULL);
        json_text(json, "name", name);
        json_text(json, "path", image ? image->path : name);
        json_text(json, "debugName", name);
        json_text(json, "debugPath", image ? image->path : name);
        json_text(json, "breakpadId", breakpad);
        json_text(json, "codeId", id.size ? code : NULL);
        json_text(json, "arch", "x86_64");
        json_end(json);
    }
    json_end(json);
}

/* Milliseconds since the first sample. */
static double time_of(const struct recording *r, uint64_t time)
{
    return (double)(time - r->placed.first) / 1e6;
}

/* The average time between two samples, ms, if the whole time had as many samples as the busiest thread. */
static double interval_of(const struct recording *r, const size_t *begins)
{
    double length = time_of(r, r->placed.last);
    size_t most = 0;
    for (size_t t = 0; t < r->placed.thread_count; t++)
        most = begins[t + 1] - begins[t] > most ? begins[t + 1] - begins[t] : most;
    return most > 1 && length > 0 ? length / (double)(most - 1) : 1;
}

static void write_meta(struct json *json, const struct recording *r, double interval)
{
    json_object(json, "meta");
    json_number(json, "version", GECKO);
    json_number(json, "preprocessedProfileVersion", VERSION);
    json_text(json, "product", "fathom");
    if (r->report->heading->command)
        json_text(json, "arguments", r->report->heading->command);
    json_number(json, "startTime", 0);
    json_real(json, "interval", interval, 6);
    json_number(json, "processType", 0);
    json_flag(json, "debug", false);
    json_flag(json, "symbolicated", true);
    json_flag(json, "usesOnlyOneStackType", true);
    json_flag(json, "sourceCodeIsNotOnSearchfox", true);
    json_array(json, "categories");
    for (size_t i = 0; i < CATEGORIES; i++) {
        json_object(json, NULL);
        json_text(json, "name", categories[i].name);
        json_text(json, "color", categories[i].colour);
        json_array(json, "subcategories");
        json_text(json, NULL, "Other");
        json_end(json);
        json_end(json);
    }
    json_end(json);
    same_number(json, "markerSchema", 0, 0);
    same_number(json, "pausedRanges", 0, 0);
    write_empty(json, "extensions", (const char *const[]){"baseURL", "id", "name", NULL});
    json_object(json, "sampleUnits");
    json_text(json, "time", "ms");
    json_text(json, "eventDelay", "ms");
    json_text(json, "threadCPUDelta", "µs");
    json_end(json);
    json_end(json);
}

/* Weights that are times are written in milliseconds, without rounding. */
static void write_weights(struct json *json, const struct recording *r, const size_t *samples, size_t count)
{
    const struct metrics *metrics = r->contexts->metrics;
    const char *unit = metrics_unit(metrics, 0);
    bool is_time = strcmp(unit, WEIGHT_NS) == 0;
    json_text(json, "weightType", is_time ? "tracing-ms" : strcmp(unit, "bytes") == 0 ? "bytes" : "samples");
    json_array(json, "weight");
    for (size_t i = 0; i < count; i++) {
        uint64_t value = r->contexts->sample_values[samples[i] * metrics->count];
        if (is_time)
            json_real(json, NULL, (double)value / 1e6, 6);
        else
            json_number(json, NULL, value);
    }
    json_end(json);
}

static void write_samples(struct json *json, const struct recording *r, const size_t *samples, size_t count)
{
    json_object(json, "samples");
    json_number(json, "length", count);
    JSON_LIST(json, "stack", count, number_or_null(json, r->tables.stack_of[samples[i]]));
    JSON_LIST(json, "time", count,
              json_real(json, NULL, time_of(r, r->contexts->samples[samples[i]].time), 6));
    write_weights(json, r, samples, count);
    json_end(json);
}

static void write_thread(struct json *json, const struct recording *r, const struct placed_thread *t,
                         const size_t *samples, size_t count)
{
    char pid[16], tid[16];
    snprintf(pid, sizeof pid, "%u", t->pid);
    snprintf(tid, sizeof tid, "%u", t->tid);
    double begin = time_of(r, r->contexts->samples[samples[0]].time);
    json_object(json, NULL);
    json_text(json, "name", t->comm);
    json_text(json, "processName", t->comm);
    json_text(json, "pid", pid);
    json_text(json, "tid", tid);
    json_flag(json, "isMainThread", t->pid == t->tid);
    json_text(json, "processType", "default");
    json_real(json, "processStartupTime", 0, 0);
    json_text(json, "processShutdownTime", NULL);
    json_real(json, "registerTime", begin, 6);
    json_text(json, "unregisterTime", NULL);
    json_flag(json, "showMarkersInTimeline", false);
    same_number(json, "pausedRanges", 0, 0);
    write_empty(json, "markers",
                (const char *const[]){"category", "data", "endTime", "name", "phase", "startTime", NULL});
    write_samples(json, r, samples, count);
    json_end(json);
}

static int write_all(const struct recording *r, struct json *json, struct fathom_error *err)
{
    size_t *begins, *sorted = placed_by_thread(&r->placed, r->contexts->sample_count, &begins);
    if (sorted) {
        json_object(json, NULL);
        write_meta(json, r, interval_of(r, begins));
        write_libs(json, r);
        write_shared(json, r);
        json_array(json, "threads");
        for (size_t t = 0; t < r->placed.thread_count; t++)
            write_thread(json, r, &r->placed.threads[t], sorted + begins[t], begins[t + 1] - begins[t]);
        json_end(json);
        same_number(json, "pages", 0, 0);
        same_number(json, "profilerOverhead", 0, 0);
        same_number(json, "counters", 0, 0);
        json_end(json);
    }
    int rc = sorted ? printer_finish(json->printer, err) : error_memory(err);
    free(sorted);
    free(begins);
    return rc;
}

int firefox_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct recording r = {.report = report, .contexts = report->contexts};
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    int rc = placed_add_up(report->contexts, &(struct placing){.slices = 1}, &r.placed, err);
    if (rc == 0)
        rc = tables_make(report->contexts, &r.tables, err);
    if (rc == 0)
        rc = write_all(&r, &json, err);
    placed_clear(&r.placed);
    tables_clear(&r.tables);
    return rc;
}
