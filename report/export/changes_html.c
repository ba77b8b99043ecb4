/*
 * changes_html.c - the difference of two recordings as a page like that of a report (html.c). Its metrics are the weight of both, of A and
 * of B, with one entry per context; `changes` has the changes of contexts and functions, by number: [a, b, bound], then 1 or -1 if it is
 * called more or less, and 1 if the change is unclear.
 */
#include "base/saturate.h"
#include "report/export/export.h"
#include "report/export/html_page.h"

static void write_change(struct json *json, const char *key, bool absolute, const struct change *c)
{
    int decimals = absolute ? 0 : 5;
    json_array(json, key);
    json_real(json, NULL, c->a, decimals);
    json_real(json, NULL, c->b, decimals);
    json_real(json, NULL, c->bound, decimals);
    json_real(json, NULL, !c->called ? 0 : c->b > c->a ? 1 : -1, 0);
    json_number(json, NULL, c->unclear);
    json_end(json);
}

static void write_heading(struct json *json, const struct changes_report *r)
{
    json_text(json, "event", r->event);
    json_number(json, "slices", 1);
    json_number(json, "sureSteps", 1);
    json_array(json, "metrics");
    for (unsigned i = 0; i < 3; i++) {
        json_array(json, NULL);
        json_text(json, NULL, i ? r->names[i - 1] : "A and B");
        json_text(json, NULL, r->unit);
        json_end(json);
    }
    json_end(json);
    json_array(json, "threads"); /* one, which is not shown */
    json_array(json, NULL);
    json_number(json, NULL, 0);
    json_number(json, NULL, 0);
    json_text(json, NULL, "");
    json_end(json);
    json_end(json);
}

static void write_changes(struct json *json, const struct changes *changes, const struct branches *b)
{
    json_object(json, "changes");
    json_number(json, "absolute", changes->absolute);
    json_number(json, "compared", changes->compared);
    json_number(json, "called", changes->called);
    json_number(json, "unclear", changes->unclear);
    write_change(json, "whole", true, &changes->whole);
    JSON_LIST(json, "paths", b->count,
              write_change(json, NULL, changes->absolute, changes_path(changes, b->at[i].node)));
    JSON_LIST(json, "selves", frames_count(changes->frames),
              write_change(json, NULL, changes->absolute, &changes->selves[i]));
    JSON_LIST(json, "totals", frames_count(changes->frames),
              write_change(json, NULL, changes->absolute, &changes->totals[i]));
    json_end(json);
}

/* Sum of both sides, with A scaled to B's weight, so that both new and removed contexts have a width. */
static uint64_t weight_of_both(const struct changes *changes, const struct cct_node *node)
{
    double scale = (double)changes->sides[1].weight / (double)changes->sides[0].weight;
    return count_saturating(((double)node->self[0] * scale + (double)node->self[1]) / 2);
}

int changes_html_write(const struct changes_report *report, FILE *out, struct fathom_error *err)
{
    const struct changes *changes = report->changes;
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer, .in_html = true};
    struct branches b;
    int rc = changes_branches(changes, &b, err);
    if (rc < 0)
        return rc;
    printer_bytes(&printer, html_before_data, html_before_data_size);
    json_object(&json, NULL);
    write_heading(&json, report);
    html_frames_write(&json, changes->frames, NULL);
    json_object(&json, "contexts");
    JSON_NUMBERS(&json, "parent", b.count, i ? b.at[i].parent : 0);
    JSON_NUMBERS(&json, "frame", b.count, b.at[i].item);
    json_end(&json);
    json_object(&json, "entries");
    JSON_NUMBERS(&json, "context", b.count, i);
    JSON_NUMBERS(&json, "thread", b.count, 0);
    JSON_NUMBERS(&json, "slice", b.count, 0);
    JSON_NUMBERS(&json, "sure", b.count, 1);
    json_array(&json, "values");
    JSON_NUMBERS(&json, NULL, b.count, weight_of_both(changes, b.at[i].node));
    for (unsigned side = 0; side < 2; side++)
        JSON_NUMBERS(&json, NULL, b.count, b.at[i].node->self[side]);
    json_end(&json);
    json_end(&json);
    write_changes(&json, changes, &b);
    json_end(&json);
    printer_bytes(&printer, html_after_data, html_after_data_size);
    branches_clear(&b);
    return printer_finish(&printer, err);
}
