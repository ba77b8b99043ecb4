/* dot.c - see export.h. */
#include <stdlib.h>

#include "report/export/function_calls.h"
#include "report/export/export.h"
#include "report/text/printer.h"
#include "report/views/functions.h"

/* Writes a DOT string: a backslash would begin an escape. */
static void write_quoted(struct printer *printer, const char *text)
{
    for (; *text; text++)
        printer_write(printer, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

struct output {
    struct printer printer;
    const struct report *report;
    uint64_t whole;
    bool *shown; /* by item */
};

static bool weighs_enough(const struct output *o, uint64_t weight)
{
    return weight && 100 * (double)weight >= o->report->view->min_percent * (double)o->whole;
}

static void write_function(struct output *o, const struct function_weight *f)
{
    const struct frame *frame = frames_at(o->report->contexts->frames, f->item);
    char self[SHARE_SIZE], total[SHARE_SIZE];
    printer_write(&o->printer, "  f%u [label=\"", f->item);
    write_quoted(&o->printer, frame->name);
    if (*frame->image) {
        printer_write(&o->printer, "\\n");
        write_quoted(&o->printer, frame->image);
    }
    printer_write(&o->printer, "\\n%s of %s\"", share_format(self, f->self, o->whole),
                  share_format(total, f->total, o->whole));
    printer_write(&o->printer, ", fillcolor=\"0.05 %.2f 1.0\"", (double)f->self / (double)o->whole);
    if (frame_is_unknown(frame))
        printer_write(&o->printer, ", style=\"filled,dashed\"");
    printer_write(&o->printer, "];\n");
}

static void write_call(struct output *o, const struct function_call *call)
{
    char share[SHARE_SIZE];
    printer_write(&o->printer, "  f%u -> f%u [label=\"%s\", penwidth=%.1f];\n", call->caller, call->callee,
                  share_format(share, call->values[0], o->whole),
                  1 + 4 * (double)call->values[0] / (double)o->whole);
}

static int write_graph(struct output *o, const struct branches *b, struct fathom_error *err)
{
    const struct contexts *contexts = o->report->contexts;
    struct functions functions = {0};
    struct function_calls calls = {0};
    int rc = functions_of(b, contexts->frames, &functions, err);
    if (rc == 0)
        rc =
            function_calls_of(b, contexts->frames,
                              &(struct function_calls_options){contexts->metrics->count, false}, &calls, err);
    printer_write(&o->printer, "digraph profile {\n  node [shape=box, style=filled, fontname=\"sans\"];\n");
    for (uint32_t i = 0; rc == 0 && i < functions.count; i++) {
        o->shown[functions.at[i].item] =
            weighs_enough(o, functions.at[i].total) &&
            frames_at(contexts->frames, functions.at[i].item)->kind != FRAME_LINE;
        if (o->shown[functions.at[i].item])
            write_function(o, &functions.at[i]);
    }
    for (size_t i = 0; rc == 0 && i < calls.count; i++) {
        const struct function_call *call = function_call_at(&calls, i);
        if (o->shown[call->caller] && o->shown[call->callee] && weighs_enough(o, call->values[0]))
            write_call(o, call);
    }
    printer_write(&o->printer, "}\n");
    functions_clear(&functions);
    function_calls_clear(&calls);
    return rc;
}

int dot_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct output o = {.printer.out = out, .report = report};
    struct branches b;
    int rc = export_branches(report->contexts, &b, err);
    if (rc < 0)
        return rc;
    o.whole = b.at[0].total;
    o.shown = calloc((size_t)frames_count(report->contexts->frames) + 1, sizeof *o.shown);
    rc = o.shown ? write_graph(&o, &b, err) : error_memory(err);
    if (rc == 0)
        rc = printer_finish(&o.printer, err);
    free(o.shown);
    branches_clear(&b);
    return rc;
}
