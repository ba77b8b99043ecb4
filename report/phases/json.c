/* json.c - phases as JSON: docs/json.md has the format. Incompatible changes need a new version. */
#include "report/export/json.h"
#include "report/phases/phases.h"
#include "report/phases/shown.h"

#define VERSION 1

static void write_interval(struct json *json, const struct phase_interval *i)
{
    json_object(json, NULL);
    json_number(json, "from", i->from);
    json_number(json, "to", i->to);
    json_real(json, "weight", i->weight, 0);
    json_number(json, "phase", i->phase);
    json_end(json);
}

static void write_path(struct json *json, const struct frames *frames, const struct cct_node *node)
{
    json_array(json, "path");
    for (; cct_parent(node); node = cct_parent(node))
        json_text(json, NULL, frames_at(frames, node->item)->name);
    json_end(json);
}

static void write_contexts(struct json *json, const struct report *report, const struct phases_shown *shown,
                           uint32_t phase)
{
    size_t first = shown->starts[phase - 1], end = shown->starts[phase], most = report->view->max_rows;
    json_array(json, "contexts");
    for (size_t i = first; i < end && (!most || i - first < most); i++) {
        json_object(json, NULL);
        json_number(json, "weight", shown->hot[i].weight);
        write_path(json, report->contexts->frames, shown->hot[i].node);
        json_end(json);
    }
    json_end(json);
}

static void write_phase(struct json *json, const struct report *report, const struct phases_shown *shown,
                        uint32_t phase)
{
    const struct phase *p = &shown->phases[phase - 1];
    json_object(json, NULL);
    json_number(json, "phase", phase);
    json_real(json, "weight", p->weight, 0);
    json_number(json, "intervals", p->intervals);
    json_number(json, "runs", p->runs);
    json_real(json, "spread", p->spread, 4);
    json_number(json, "representative", p->chosen);
    write_contexts(json, report, shown, phase);
    json_end(json);
}

static void write_all(struct json *json, const struct report *report, const struct phases_shown *shown)
{
    uint32_t right = 0, lasting = 0;
    if (shown->timeline)
        timeline_predicted(shown->timeline, &right, &lasting);
    json_object(json, NULL);
    json_number(json, "version", VERSION);
    json_text(json, "event", report->heading->event);
    json_text(json, "unit", report->view->unit);
    json_text(json, "kind", phase_kind_names[report->view->phasing->kind]);
    json_number(json, "foretold", right);
    json_number(json, "lasting", lasting);
    JSON_LIST(json, "intervals", shown->interval_count, write_interval(json, &shown->intervals[i]));
    json_array(json, "phases");
    for (uint32_t p = 1; p <= shown->phase_count; p++)
        write_phase(json, report, shown, p);
    json_end(json);
    json_end(json);
}

int phases_json_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct phases_shown shown = {0};
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    int rc = phases_shown_find(report, &shown, err);
    if (rc < 0)
        return rc;
    write_all(&json, report, &shown);
    phases_shown_clear(&shown);
    return printer_finish(&printer, err);
}
