/*
 * json.c - hot streams as JSON, and as a page that shows it, with rows of objects over the cache lines that they occupy. docs/json.md has
 * the format; incompatible changes need a new version.
 */
#include "report/export/json.h"
#include "report/streams/html_page.h"
#include "report/streams/streams.h"

#define VERSION 1

static void write_lines(struct json *json, const struct shown_lines *lines)
{
    json_object(json, "lines");
    json_number(json, "touched", lines->touched);
    json_number(json, "together", lines->together);
    json_number(json, "used", lines->used);
    json_end(json);
}

static void write_object(struct json *json, const struct shown_object *o)
{
    static const char *const kinds[] = {
        [SHOWN_HEAP] = "heap", [SHOWN_SYMBOL] = "symbol", [SHOWN_STACK] = "stack", [SHOWN_OTHER] = "other"};
    json_object(json, NULL);
    json_text(json, "kind", kinds[o->kind]);
    json_number(json, "address", o->start);
    json_number(json, "size", o->size);
    if (o->kind == SHOWN_SYMBOL)
        json_text(json, "name", o->name);
    if (o->kind == SHOWN_HEAP)
        json_text(json, "path", o->path);
    json_end(json);
}

static void write_step(struct json *json, const struct shown_step *s)
{
    json_object(json, NULL);
    json_text(json, "function", s->function);
    json_text(json, "image", s->image);
    json_number(json, "address", s->address);
    json_text(json, "file", s->file);
    json_number(json, "line", s->line);
    json_flag(json, "load", s->load);
    json_flag(json, "store", s->store);
    json_number(json, "size", s->size);
    if (s->object != SHOWN_NO_OBJECT) {
        json_number(json, "object", s->object);
        json_number(json, "offset", s->offset);
    }
    json_end(json);
}

static void write_stream(struct json *json, const struct shown_stream *s)
{
    json_object(json, NULL);
    json_number(json, "length", s->length);
    json_number(json, "occurrences", s->occurrences);
    write_lines(json, &s->lines);
    json_object(json, "alike");
    json_number(json, "streams", s->alike);
    json_number(json, "heat", s->alike_heat);
    json_number(json, "objects", s->alike_objects);
    write_lines(json, &s->alike_lines);
    json_end(json);
    json_array(json, "paths");
    for (size_t i = 0; i < s->path_count; i++) {
        json_object(json, NULL);
        json_text(json, "path", s->paths[i].path);
        json_number(json, "walks", s->paths[i].count);
        json_end(json);
    }
    json_end(json);
    JSON_LIST(json, "objects", s->object_count, write_object(json, &s->objects[i]));
    JSON_LIST(json, "steps", s->step_count, write_step(json, &s->steps[i]));
    json_end(json);
}

static void write_streams(struct json *json, const struct shown_streams *s)
{
    json_object(json, NULL);
    json_number(json, "version", VERSION);
    json_text(json, "of", s->data ? "data" : "calls");
    json_number(json, "references", s->references);
    json_number(json, "hot", s->hot);
    json_number(json, "hot-streams", s->streams);
    json_number(json, "kinds", s->kinds);
    json_number(json, "bursts", s->bursts);
    json_number(json, "unknown", s->unknown);
    json_number(json, "lost", s->lost);
    JSON_LIST(json, "streams", s->count, write_stream(json, &s->list[i]));
    json_end(json);
}

int streams_json_write(const struct shown_streams *s, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    write_streams(&json, s);
    return printer_finish(&printer, err);
}

int streams_html_write(const struct shown_streams *s, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer, .in_html = true};
    printer_bytes(&printer, streams_page_before_data, streams_page_before_data_size);
    write_streams(&json, s);
    printer_bytes(&printer, streams_page_after_data, streams_page_after_data_size);
    return printer_finish(&printer, err);
}
