/* changes_json.c - the difference of two recordings as JSON: docs/json.md has the format. Incompatible changes need a new version. */
#include "report/export/export.h"
#include "report/export/json.h"

#define VERSION 2

static void write_change(struct json *json, const char *key, bool absolute, const struct change *c)
{
    int decimals = absolute ? 0 : 6;
    json_object(json, key);
    json_real(json, "a", c->a, decimals);
    json_real(json, "b", c->b, decimals);
    if (c->compared) {
        json_real(json, "bound", c->bound, decimals);
        json_real(json, "probability", c->probability, 9);
    }
    json_text(json, "changed",
              !c->compared  ? NULL
              : c->unclear  ? "unclear"
              : !c->called  ? "no"
              : c->b > c->a ? "more"
                            : "less");
    if (c->unclear) {
        json_real(json, "recordings", c->recordings, 0);
        json_real(json, "longer", c->longer, 0);
    }
    json_end(json);
}

static void write_sides(struct json *json, const struct changes_report *r)
{
    json_array(json, "sides");
    for (unsigned i = 0; i < 2; i++) {
        const struct difference_side *side = &r->changes->sides[i];
        json_object(json, NULL);
        json_text(json, "recordings", r->names[i]);
        json_number(json, "samples", side->samples);
        json_number(json, "weight", side->weight);
        json_number(json, "unknown", side->unknown);
        json_end(json);
    }
    json_end(json);
}

static void write_functions(struct json *json, const struct changes *changes)
{
    json_array(json, "functions");
    for (uint32_t i = 0; i < frames_count(changes->frames); i++) {
        const struct frame *f = frames_at(changes->frames, i);
        json_object(json, NULL);
        json_text(json, "name", f->name);
        if (*f->image)
            json_text(json, "image", f->image);
        write_change(json, "self", changes->absolute, &changes->selves[i]);
        write_change(json, "total", changes->absolute, &changes->totals[i]);
        json_end(json);
    }
    json_end(json);
}

int changes_json_write(const struct changes_report *report, FILE *out, struct fathom_error *err)
{
    const struct changes *changes = report->changes;
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    struct branches b;
    int rc = changes_branches(changes, &b, err);
    if (rc < 0)
        return rc;
    json_object(&json, NULL);
    json_text(&json, "format", "fathom-difference");
    json_number(&json, "version", VERSION);
    json_text(&json, "event", report->event);
    json_text(&json, "unit", changes->absolute ? report->unit : "share");
    write_sides(&json, report);
    json_number(&json, "compared", changes->compared);
    json_number(&json, "changed", changes->called);
    json_number(&json, "unclear", changes->unclear);
    json_real(&json, "level", changes->level, 9);
    write_change(&json, "weight", true, &changes->whole);
    write_functions(&json, changes);
    json_array(&json, "contexts");
    for (uint32_t i = 1; i < b.count; i++) {
        json_object(&json, NULL);
        json_real(&json, "parent", (double)b.at[i].parent - 1, 0);
        json_number(&json, "function", b.at[i].item);
        write_change(&json, "total", changes->absolute, changes_path(changes, b.at[i].node));
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    branches_clear(&b);
    return printer_finish(&printer, err);
}
