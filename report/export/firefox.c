/*
 * firefox.c - the processed format of the Firefox Profiler (docs-developer/CHANGELOG-formats.md of
 * https://github.com/firefox-devtools/profiler): all samples over time, by thread. A sample's category is how its
 * path is known. As categories belong to frames in that format, each frame is a pair of function and category.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/firefox_tables.h"
#include "report/export/json.h"
#include "report/export/placed.h"
#include "report/text/weight.h"

#define VERSION 62 /* preprocessedProfileVersion: the tables are shared by all threads */
#define GECKO   24 /* the version that its numbers go with */

/* The default category has to be grey. */
static const struct {
    const char *name, *colour;
} categories[FIREFOX_CATEGORIES] = {[FIREFOX_UNKNOWN] = {"unknown", "grey"},
                                    [FIREFOX_PROVED] = {"proved", "green"},
                                    [FIREFOX_INFERRED] = {"inferred", "blue"}};

struct recording {
    const struct report *report;
    const struct contexts *contexts;
    struct placed_samples placed; /* for threads and times */
    struct firefox_tables tables;
};

/* Columns: the same value for all. ----------------------------------------------------------------------------- */

static void same_number(struct json *json, const char *key, size_t count, double value)
{
    json_array(json, key);
    while (count--)
        json_real(json, NULL, value, 0);
    json_end(json);
}

static void same_null(struct json *json, const char *key, size_t count)
{
    json_array(json, key);
    while (count--)
        json_text(json, NULL, NULL);
    json_end(json);
}

static void same_flag(struct json *json, const char *key, size_t count, bool value)
{
    json_array(json, key);
    while (count--)
        json_flag(json, NULL, value);
    json_end(json);
}

static void number_or_null(struct json *json, uint32_t number)
{
    if (number == FIREFOX_NONE)
        json_text(json, NULL, NULL);
    else
        json_number(json, NULL, number);
}

/* The tables. -------------------------------------------------------------------------------------------------- */

static void write_frame_table(struct json *json, const struct recording *r)
{
    size_t count = r->tables.frame_count;
    json_object(json, "frameTable");
    json_number(json, "length", count);
    json_array(json, "address"); /* of the function: symbols are already known */
    for (size_t i = 0; i < count; i++) {
        const struct frame *f = frames_at(r->contexts->frames, r->tables.frames[i].item);
        json_real(json, NULL, *f->image ? (double)f->address : -1, 0);
    }
    json_end(json);
    json_array(json, "func");
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, r->tables.used.numbers[r->tables.frames[i].item]);
    json_end(json);
    json_array(json, "category");
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, r->tables.frames[i].category);
    json_end(json);
    same_number(json, "subcategory", count, 0);
    same_number(json, "inlineDepth", count, 0);
    same_number(json, "innerWindowID", count, 0);
    same_null(json, "nativeSymbol", count);
    same_null(json, "line", count);
    same_null(json, "column", count);
    json_end(json);
}

static void write_func_table(struct json *json, const struct recording *r)
{
    uint32_t count = r->tables.used.count;
    json_object(json, "funcTable");
    json_number(json, "length", count);
    json_array(json, "name");
    for (uint32_t i = 0; i < count; i++)
        json_number(json, NULL, r->tables.name_of[i]);
    json_end(json);
    json_array(json, "resource");
    for (uint32_t i = 0; i < count; i++)
        json_real(json, NULL, r->tables.file_of[i] == FIREFOX_NONE ? -1. : r->tables.file_of[i], 0);
    json_end(json);
    same_flag(json, "isJS", count, false);
    same_flag(json, "relevantForJS", count, false);
    same_null(json, "source", count);
    same_null(json, "lineNumber", count);
    same_null(json, "columnNumber", count);
    json_end(json);
}

static void write_stack_table(struct json *json, const struct recording *r)
{
    json_object(json, "stackTable");
    json_number(json, "length", r->tables.stack_count);
    json_array(json, "prefix");
    for (size_t i = 0; i < r->tables.stack_count; i++)
        number_or_null(json, r->tables.stacks[i].prefix);
    json_end(json);
    json_array(json, "frame");
    for (size_t i = 0; i < r->tables.stack_count; i++)
        json_number(json, NULL, r->tables.stacks[i].frame);
    json_end(json);
    json_end(json);
}

static void write_resource_table(struct json *json, const struct recording *r)
{
    json_object(json, "resourceTable");
    json_number(json, "length", r->tables.file_count);
    json_array(json, "lib");
    for (size_t i = 0; i < r->tables.file_count; i++)
        json_number(json, NULL, i);
    json_end(json);
    json_array(json, "name");
    for (size_t i = 0; i < r->tables.file_count; i++)
        json_number(json, NULL, r->tables.files[i].text);
    json_end(json);
    same_null(json, "host", r->tables.file_count);
    same_number(json, "type", r->tables.file_count, 1); /* a library */
    json_end(json);
}

/* Writes a required table for which there is no data. */
static void write_empty(struct json *json, const char *key, const char *const *columns)
{
    json_object(json, key);
    json_number(json, "length", 0);
    for (; *columns; columns++)
        same_null(json, *columns, 0);
    json_end(json);
}

static void write_shared(struct json *json, const struct recording *r)
{
    json_object(json, "shared");
    write_stack_table(json, r);
    write_frame_table(json, r);
    write_func_table(json, r);
    write_resource_table(json, r);
    write_empty(json, "nativeSymbols",
                (const char *const[]){"address", "functionSize", "libIndex", "name", NULL});
    write_empty(json, "sources",
                (const char *const[]){"id", "filename", "startLine", "startColumn", "sourceMapURL", NULL});
    json_array(json, "stringArray");
    for (uint32_t i = 0; i < names_count(r->tables.texts); i++)
        json_text(json, NULL, names_text(r->tables.texts, i));
    json_end(json);
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
    for (size_t i = 0; i < FIREFOX_CATEGORIES; i++) {
        json_object(json, NULL);
        json_text(json, "name", categories[i].name);
        json_text(json, "color", categories[i].colour);
        json_array(json, "subcategories");
        json_text(json, NULL, "Other");
        json_end(json);
        json_end(json);
    }
    json_end(json);
    same_null(json, "markerSchema", 0);
    same_null(json, "pausedRanges", 0);
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
    json_array(json, "stack");
    for (size_t i = 0; i < count; i++)
        number_or_null(json, r->tables.stack_of[samples[i]]);
    json_end(json);
    json_array(json, "time");
    for (size_t i = 0; i < count; i++)
        json_real(json, NULL, time_of(r, r->contexts->samples[samples[i]].time), 6);
    json_end(json);
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
    same_null(json, "pausedRanges", 0);
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
        same_null(json, "pages", 0);
        same_null(json, "profilerOverhead", 0);
        same_null(json, "counters", 0);
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
    struct branches checked;
    int rc = export_branches(report->contexts, &checked, err); /* its items have frames */
    if (rc == 0) {
        branches_clear(&checked);
        rc = placed_add_up(report->contexts, &(struct placing){.slices = 1}, &r.placed, err);
    }
    if (rc == 0)
        rc = firefox_tables_make(report->contexts, &r.tables, err);
    if (rc == 0)
        rc = write_all(&r, &json, err);
    placed_clear(&r.placed);
    firefox_tables_clear(&r.tables);
    return rc;
}
