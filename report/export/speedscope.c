/* speedscope.c - see export.h. Each context is one sample, with its weight. */
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "report/export/export.h"
#include "report/export/json.h"
#include "report/text/weight.h"

static void write_frames(struct json *json, const struct frames *frames, const struct used_frames *used)
{
    json_object(json, "shared");
    json_array(json, "frames");
    for (uint32_t i = 0; i < used->count; i++) {
        const struct frame *f = frames_at(frames, used->items[i]);
        json_object(json, NULL);
        json_text(json, "name", f->name);
        if (*f->image)
            json_text(json, "file", f->image);
        json_end(json);
    }
    json_object(json, NULL);
    json_text(json, "name", EXPORT_NOT_KEPT);
    json_end(json);
    json_end(json);
    json_end(json);
}

static void write_stacks(struct json *json, const struct used_frames *used, const struct branches *b,
                         uint32_t metric, uint32_t *path)
{
    json_array(json, "samples");
    for (uint32_t i = 0; i < b->count; i++) {
        if (!b->at[i].node->self[metric])
            continue;
        json_array(json, NULL);
        if (i == 0)
            json_number(json, NULL, used->count);
        size_t depth = 0;
        for (uint32_t at = i; at; at = b->at[at].parent)
            path[depth++] = used->numbers[b->at[at].item];
        while (depth--)
            json_number(json, NULL, path[depth]);
        json_end(json);
    }
    json_end(json);
}

static void write_profile(struct json *json, const struct contexts *contexts, const struct used_frames *used,
                          const struct branches *b, uint32_t metric, uint32_t *path)
{
    const char *unit = metrics_unit(contexts->metrics, metric);
    uint64_t total = 0;
    json_object(json, NULL);
    json_text(json, "type", "sampled");
    json_text(json, "name", contexts->metrics->at[metric]->name);
    json_text(json, "unit", strcmp(unit, WEIGHT_NS) == 0 ? "nanoseconds" : "none");
    write_stacks(json, used, b, metric, path);
    json_array(json, "weights");
    for (uint32_t i = 0; i < b->count; i++)
        if (b->at[i].node->self[metric]) {
            json_number(json, NULL, b->at[i].node->self[metric]);
            total = add_saturating(total, b->at[i].node->self[metric]);
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
    uint32_t *path = malloc(b.count * sizeof *path);
    rc = path ? used_frames_find(contexts, &used, err) : error_memory(err);
    if (rc == 0) {
        json_object(&json, NULL);
        json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
        json_text(&json, "exporter", "fathom");
        json_text(&json, "name", report->heading->command ? report->heading->command : "fathom");
        write_frames(&json, contexts->frames, &used);
        json_array(&json, "profiles");
        for (uint32_t m = 0; m < contexts->metrics->count; m++)
            write_profile(&json, contexts, &used, &b, m, path);
        json_end(&json);
        json_end(&json);
        rc = printer_finish(&printer, err);
    }
    used_frames_clear(&used);
    free(path);
    branches_clear(&b);
    return rc;
}
