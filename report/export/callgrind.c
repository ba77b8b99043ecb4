/*
 * callgrind.c - see export.h. Names and files are written once, then by their numbers.
 *
 * Readers identify a function by object, file and name, so each has only one file: that of its heaviest line. Lines in other files (of
 * functions inlined into it) are below "fi=".
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/export/function_calls.h"
#include "report/export/export.h"
#include "report/text/printer.h"

#define UNKNOWN "???"

/* The self weight of a function's line over all contexts: that of all branches with this function and line. */
struct own {
    uint32_t function, line; /* items; line: FRAMES_NONE if unknown */
    uint32_t branch;
};

struct output {
    struct printer printer;
    const struct contexts *contexts;
    bool *written;      /* by item: whether its name was written */
    const char **files; /* by item of a function: its file, NULL: unknown */
    struct names *paths;
    struct own *own; /* by function, then line */
    size_t own_count, own_capacity;
};

/* Writes a file's number; the first time also its name. */
static void write_file(struct output *o, const char *key, const char *file)
{
    uint32_t known = names_count(o->paths), number = file ? names_intern(o->paths, file) : NAMES_NONE;
    if (number == NAMES_NONE)
        printer_write(&o->printer, "%s=" UNKNOWN "\n", key);
    else
        printer_write(&o->printer, number < known ? "%s=(%u)\n" : "%s=(%u) %s\n", key, number + 1, file);
}

/* Names never contain line breaks (frames.h), but must not begin with a number in brackets. */
static void write_name(struct output *o, const char *what, uint32_t item)
{
    const struct frame *frame = frames_at(o->contexts->frames, item);
    printer_write(&o->printer, "%sob=%s\n", what, *frame->image ? frame->image : UNKNOWN);
    write_file(o, *what ? "cfi" : "fl", o->files[item]);
    printer_write(&o->printer, "%sfn=(%u)", what, item + 1);
    if (!o->written[item])
        printer_write(&o->printer, " %s", *frame->name ? frame->name : "?");
    o->written[item] = true;
    printer_write(&o->printer, "\n");
}

/* Writes `values` for a line of the current function. */
static void write_values(struct output *o, uint32_t line, const uint64_t *values)
{
    unsigned long long number = line == FRAMES_NONE ? 0 : frames_at(o->contexts->frames, line)->address;
    printer_write(&o->printer, "%llu", number);
    for (uint32_t m = 0; m < o->contexts->metrics->count; m++)
        printer_write(&o->printer, " %llu", (unsigned long long)values[m]);
    printer_write(&o->printer, "\n");
}

/* Changes to this line's file; *now is the current one. */
static void change_file(struct output *o, uint32_t line, const char **now)
{
    const char *file = line == FRAMES_NONE ? NULL : frames_at(o->contexts->frames, line)->source;
    if (!file || file == *now)
        return;
    write_file(o, "fi", file);
    *now = file;
}

static int compare_own(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    return order_of(x->function, y->function) ?: order_of(x->line, y->line) ?: order_of(x->branch, y->branch);
}

/* Adds up self weights by line, and finds the functions' files; branches come heaviest first. */
static bool list_own(struct output *o, const struct branches *b)
{
    for (uint32_t i = 1; i < b->count; i++) {
        struct own own = {.branch = i};
        own.function = b->at[function_branch(b, o->contexts->frames, i, &own.line)].item;
        if (own.line != FRAMES_NONE && !o->files[own.function])
            o->files[own.function] = frames_at(o->contexts->frames, own.line)->source;
        if (export_has_values(o->contexts, &b->at[i]) &&
            !vec_push(o->own, o->own_count, o->own_capacity, own))
            return false;
    }
    sort_with(o->own, o->own_count, compare_own);
    return true;
}

/* Writes the values of a function's lines, from `next` on. Returns the index after them. */
static size_t write_own(struct output *o, const struct branches *b, size_t next, const char **file)
{
    const uint32_t function = o->own[next].function, metrics = o->contexts->metrics->count;
    while (next < o->own_count && o->own[next].function == function) {
        uint64_t sums[METRICS_MAX] = {0};
        uint32_t line = o->own[next].line;
        for (; next < o->own_count && o->own[next].function == function && o->own[next].line == line; next++)
            for (uint32_t m = 0; m < metrics; m++)
                sums[m] = add_saturating(sums[m], b->at[o->own[next].branch].node->self[m]);
        change_file(o, line, file);
        write_values(o, line, sums);
    }
    return next;
}

static void write_functions(struct output *o, const struct branches *b, const struct function_calls *calls)
{
    size_t own = 0, next = 0;
    for (uint32_t item = 0; item < frames_count(o->contexts->frames) && !o->printer.failed; item++) {
        bool has_own = own < o->own_count && o->own[own].function == item;
        if (!has_own && !(next < calls->count && function_call_at(calls, next)->caller == item))
            continue;
        const char *file = o->files[item];
        printer_write(&o->printer, "\n");
        write_name(o, "", item);
        if (has_own)
            own = write_own(o, b, own, &file);
        for (; next < calls->count && function_call_at(calls, next)->caller == item; next++) {
            const struct function_call *call = function_call_at(calls, next);
            change_file(o, call->line, &file);
            write_name(o, "c", call->callee);
            printer_write(&o->printer, "calls=%llu 0\n", (unsigned long long)call->contexts);
            write_values(o, call->line, call->values);
        }
    }
}

/* Writes the header, with the sums of all metrics. */
static void write_head(struct output *o, const struct report *report, const struct branches *b)
{
    const struct contexts *contexts = o->contexts;
    const char *command = report->heading->command ? report->heading->command : "";
    printer_write(&o->printer, "# callgrind format\nversion: 1\ncreator: fathom\ncmd: ");
    printer_foreign(&o->printer, command);
    printer_write(&o->printer, "\npositions: line");
    for (uint32_t m = 0; m < contexts->metrics->count; m++) {
        printer_write(&o->printer, "\nevent: %s : ", contexts->metrics->at[m]->name);
        printer_foreign(&o->printer, metrics_unit(contexts->metrics, m));
    }
    printer_write(&o->printer, "\nevents:");
    for (uint32_t m = 0; m < contexts->metrics->count; m++)
        printer_write(&o->printer, " %s", contexts->metrics->at[m]->name);
    printer_write(&o->printer, "\nsummary:");
    for (uint32_t m = 0; m < contexts->metrics->count; m++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < b->count; i++)
            sum = add_saturating(sum, b->at[i].node->self[m]);
        printer_write(&o->printer, " %llu", (unsigned long long)sum);
    }
    printer_write(&o->printer, "\n");
    struct cct_node *root = cct_root(contexts->tree);
    if (!root->self[0])
        return;
    printer_write(&o->printer, "\nob=" UNKNOWN "\nfl=" UNKNOWN "\nfn=(0) " EXPORT_NOT_KEPT "\n");
    write_values(o, FRAMES_NONE, root->self);
}

int callgrind_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    size_t items = (size_t)frames_count(contexts->frames) + 1;
    struct output o = {.printer.out = out, .contexts = contexts, .paths = names_new()};
    struct function_calls calls = {0};
    struct branches b;
    int rc = export_branches(contexts, &b, err);
    if (rc < 0) {
        names_free(o.paths);
        return rc;
    }
    o.written = calloc(items, sizeof *o.written);
    o.files = calloc(items, sizeof *o.files);
    rc =
        o.written && o.files && o.paths && list_own(&o, &b)
            ? function_calls_of(&b, contexts->frames,
                                &(struct function_calls_options){contexts->metrics->count, true}, &calls, err)
            : error_memory(err);
    if (rc == 0) {
        write_head(&o, report, &b);
        write_functions(&o, &b, &calls);
        rc = printer_finish(&o.printer, err);
    }
    free(o.written);
    free(o.files);
    free(o.own);
    names_free(o.paths);
    function_calls_clear(&calls);
    branches_clear(&b);
    return rc;
}
