/* contexts_json.c - a report as JSON: docs/json.md has the format. Incompatible changes need a new version. */
#include "profile/levels.h"
#include "report/export/export.h"
#include "report/export/json.h"

#define VERSION 1

static const char *kind_name(enum frame_kind kind)
{
    switch (kind) {
    case FRAME_FUNCTION:
        return "function";
    case FRAME_INLINED:
        return "inlined";
    case FRAME_UNKNOWN_CONTEXT:
        return "unknown";
    case FRAME_DATA:
        return "data";
    case FRAME_FOUND:
        return "found";
    case FRAME_UNSURE:
        return "unsure";
    case FRAME_KERNEL:
        return "kernel";
    case FRAME_SCRIPT:
        return "script";
    case FRAME_PARTIAL:
        return "partial";
    case FRAME_LEVEL:
        return "level";
    case FRAME_WAKER:
        return "waker";
    case FRAME_LINE:
    case FRAME_PLACE:
    case FRAME_LABEL:
        break;
    }
    return "label";
}

static void write_heading(struct json *json, const struct view_heading *h)
{
    json_text(json, "event", h->event);
    json_text(json, "command", h->command);
    json_number(json, "samples", h->samples);
    json_number(json, "weight", h->weight);
    json_number(json, "left_out", h->left_out);
    json_object(json, "paths");
    json_number(json, "proved", h->proved);
    json_number(json, "inferred", h->inferred);
    json_number(json, "unknown", h->unknown);
    json_number(json, "partial", h->partial);
    json_end(json);
    json_number(json, "precise", h->kinds.precise); /* remove this and the next three in the next version */
    json_number(json, "ambiguous", h->kinds.ambiguous);
    json_number(json, "inferred", h->kinds.inferred);
    json_number(json, "unknown", h->unknown);
    json_real(json, "expected_right", h->expected, 1);
    json_real(json, "expected_least", h->expected_least, 1);
    json_real(json, "expected_most", h->expected_most, 1);
    json_text(json, "expected_by", expected_names[h->expected_by]);
    json_number(json, "lost", h->lost);
    if (h->intervals) {
        json_object(json, "scaled");
        json_number(json, "intervals", h->intervals);
        json_number(json, "sampled", h->sampled);
        json_real(json, "covered", h->covered, 4);
        json_end(json);
    }
    json_number(json, "returned", h->returned);
    json_object(json, "not_inlined");
    json_number(json, "files", h->uninlined_count);
    json_number(json, "bytes", h->uninlined_bytes);
    json_end(json);
}

static void write_frames(struct json *json, const struct frames *frames, const struct used_frames *used)
{
    json_array(json, "frames");
    for (uint32_t i = 0; i < used->count; i++) {
        const struct frame *f = frames_at(frames, used->items[i]);
        char address[24];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
        json_object(json, NULL);
        json_text(json, "name", f->name);
        json_text(json, "kind", kind_name(f->kind));
        if (f->kind == FRAME_LEVEL)
            json_text(json, "level", level_name(level_of(f)));
        if (*f->image)
            json_text(json, "image", f->image);
        if (f->kind == FRAME_FUNCTION)
            json_text(json, "address", address);
        if (f->source) {
            json_text(json, "source", f->source);
            json_number(json, "line", f->address);
        }
        json_end(json);
    }
    json_end(json);
}

/* Parents before children; a context's number is its index in the list. */
static int write_contexts(struct json *json, const struct contexts *contexts, const struct used_frames *used,
                          struct fathom_error *err)
{
    struct branches b;
    int rc = export_branches(contexts, &b, err);
    if (rc < 0)
        return rc;
    json_array(json, "contexts");
    for (uint32_t i = 1; i < b.count; i++) {
        const struct branch *branch = &b.at[i];
        json_object(json, NULL);
        json_real(json, "parent", (double)branch->parent - 1, 0);
        json_number(json, "frame", used->numbers[branch->item]);
        json_array(json, "self");
        for (uint32_t m = 0; m < contexts->metrics->count; m++)
            json_number(json, NULL, branch->node->self[m]);
        json_end(json);
        if (contexts->doubts && branch->self)
            json_real(json, "sure", export_sure(branch), 3);
        if (branch->error)
            json_number(json, "error", branch->error);
        json_end(json);
    }
    json_end(json);
    branches_clear(&b);
    return 0;
}

int json_report_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    struct used_frames used;
    int rc = used_frames_find(contexts, &used, err);
    if (rc < 0)
        return rc;
    json_object(&json, NULL);
    json_text(&json, "format", "fathom-contexts");
    json_number(&json, "version", VERSION);
    write_heading(&json, report->heading);
    json_array(&json, "metrics");
    for (uint32_t m = 0; m < contexts->metrics->count; m++) {
        json_object(&json, NULL);
        json_text(&json, "name", contexts->metrics->at[m]->name);
        json_text(&json, "unit", metrics_unit(contexts->metrics, m));
        json_end(&json);
    }
    json_end(&json);
    json_number(&json, "not_kept", cct_root(contexts->tree)->self[0]);
    write_frames(&json, contexts->frames, &used);
    rc = write_contexts(&json, contexts, &used, err);
    json_end(&json);
    used_frames_clear(&used);
    return rc == 0 ? printer_finish(&printer, err) : rc;
}
