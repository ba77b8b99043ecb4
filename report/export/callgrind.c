/* callgrind.c - see export.h. Names are told once, then by their numbers. */
#include <stdlib.h>

#include "report/export/function_calls.h"
#include "report/export/export.h"
#include "report/text/printer.h"

struct output {
    struct printer printer;
    const struct contexts *contexts;
    bool *told; /* by item: its name */
};

/* Names may hold what ends a line nowhere (frames.h), but must not begin with a number in brackets. */
static void write_name(struct output *o, const char *what, uint32_t item)
{
    const struct frame *frame = frames_at(o->contexts->frames, item);
    printer_write(&o->printer, "%sob=%s\n%s=???\n", what, *frame->image ? frame->image : "???",
                  *what ? "cfi" : "fl");
    printer_write(&o->printer, "%sfn=(%u)", what, item + 1);
    if (!o->told[item])
        printer_write(&o->printer, " %s", *frame->name ? frame->name : "?");
    o->told[item] = true;
    printer_write(&o->printer, "\n");
}

static void write_values(struct output *o, const uint64_t *values)
{
    printer_write(&o->printer, "0");
    for (uint32_t m = 0; m < o->contexts->metrics->count; m++)
        printer_write(&o->printer, " %llu", (unsigned long long)values[m]);
    printer_write(&o->printer, "\n");
}

/* What a function has of its own, over all contexts. */
static uint64_t *sum_own(const struct contexts *contexts, const struct branches *b)
{
    uint32_t metrics = contexts->metrics->count;
    uint64_t *own = calloc((size_t)frames_count(contexts->frames) + 1, metrics * sizeof *own);
    for (uint32_t i = 1; own && i < b->count; i++)
        for (uint32_t m = 0; m < metrics; m++) {
            uint64_t *to = &own[(size_t)b->at[i].item * metrics + m];
            *to = add_saturating(*to, b->at[i].node->self[m]);
        }
    return own;
}

static void write_functions(struct output *o, const uint64_t *own, const struct function_calls *calls)
{
    uint32_t metrics = o->contexts->metrics->count;
    size_t next = 0;
    for (uint32_t item = 0; item < frames_count(o->contexts->frames) && !o->printer.failed; item++) {
        bool any = next < calls->count && function_call_at(calls, next)->caller == item;
        for (uint32_t m = 0; m < metrics; m++)
            any |= own[(size_t)item * metrics + m] > 0;
        if (!any)
            continue;
        printer_write(&o->printer, "\n");
        write_name(o, "", item);
        write_values(o, &own[(size_t)item * metrics]);
        for (; next < calls->count && function_call_at(calls, next)->caller == item; next++) {
            const struct function_call *call = function_call_at(calls, next);
            write_name(o, "c", call->callee);
            printer_write(&o->printer, "calls=%llu 0\n", (unsigned long long)call->contexts);
            write_values(o, call->values);
        }
    }
}

static void write_head(struct output *o, const struct report *report)
{
    const struct contexts *contexts = o->contexts;
    const char *command = report->heading->command ? report->heading->command : "";
    printer_write(&o->printer, "# callgrind format\nversion: 1\ncreator: fathom\ncmd: ");
    printer_foreign(&o->printer, command);
    printer_write(&o->printer, "\npositions: line\nevents:");
    for (uint32_t m = 0; m < contexts->metrics->count; m++)
        printer_write(&o->printer, " %s", contexts->metrics->at[m]->name);
    printer_write(&o->printer, "\n");
    struct cct_node *root = cct_root(contexts->tree);
    if (!root->self[0])
        return;
    printer_write(&o->printer, "\nob=???\nfl=???\nfn=(0) " EXPORT_NOT_KEPT "\n");
    write_values(o, root->self);
}

int callgrind_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    struct output o = {.printer.out = out, .contexts = contexts};
    struct function_calls calls = {0};
    struct branches b;
    int rc = export_branches(contexts, &b, err);
    if (rc < 0)
        return rc;
    rc = function_calls_of(&b, contexts->metrics->count, &calls, err);
    uint64_t *own = sum_own(contexts, &b);
    o.told = calloc((size_t)frames_count(contexts->frames) + 1, sizeof *o.told);
    if (rc == 0 && (!own || !o.told))
        rc = error_memory(err);
    if (rc == 0) {
        write_head(&o, report);
        write_functions(&o, own, &calls);
        rc = printer_finish(&o.printer, err);
    }
    free(own);
    free(o.told);
    function_calls_clear(&calls);
    branches_clear(&b);
    return rc;
}
