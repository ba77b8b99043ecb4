/* graph.c - the call sites in a binary's code, with the stack depth at each; see fathom/graph.h. */
#include "api/fathom/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/host.h"
#include "image/calls/calls.h"
#include "image/debuginfod.h"
#include "image/name.h"
#include "report/text/printer.h"

struct fathom_graph {
    struct image *image;
    struct calls *calls;
};

static const char *function_name(const struct image *image, uint32_t function, char *out, size_t size)
{
    image_function_format(image, function, out, size);
    return out;
}

/* Names the callee: a function, a symbol, or the source of its address. */
static const char *target_name(const struct image *image, const struct call_site *site, char *out,
                               size_t size)
{
    static const char mark[] = "@import";
    uint32_t f = site->target ? image_function_entry(image, site->target) : IMAGE_NO_FUNCTION;
    if (site->kind == CALL_IMPORT) {
        name_format("", site->symbol, 0, out, size - sizeof mark + 1);
        strcat(out, mark);
    } else if (f != IMAGE_NO_FUNCTION)
        function_name(image, f, out, size);
    else if (site->target)
        snprintf(out, size, "0x%llx", (unsigned long long)site->target);
    else if (site->kind == CALL_BINDER)
        snprintf(out, size, "the loader");
    else if (site->field != CALL_NO_FIELD)
        snprintf(out, size, "*(%+d)", (int)site->field);
    else
        snprintf(out, size, "*");
    return out;
}

static void print_text(struct printer *p, const struct image *image, const struct calls *calls,
                       uint32_t function)
{
    char name[1024], target[1024];
    const struct call_site *sites;
    size_t count = calls_of(calls, function, &sites);
    if (count == 0)
        return;
    printer_foreign(p, function_name(image, function, name, sizeof name));
    printer_write(p, "\n");
    for (size_t i = 0; i < count; i++) {
        const struct call_site *s = &sites[i];
        char offset[16] = "tail";
        if (s->open)
            strcpy(offset, "open");
        else if (!s->tail)
            snprintf(offset, sizeof offset, "%+d", (int)s->offset);
        target_name(image, s, target, sizeof target);
        const char *note = "";
        if (s->kind == CALL_INDIRECT && s->target)
            note = s->resolver ? " chooses" : " at start";
        printer_write(p, "  %8llx %8s  ", (unsigned long long)s->address, offset);
        printer_foreign(p, target);
        printer_write(p, "%s\n", note);
    }
}

static int by_target(const void *a, const void *b)
{
    const struct call_site *x = a, *y = b;
    const char *of_x = x->symbol ? x->symbol : "", *of_y = y->symbol ? y->symbol : "";
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int order = strcmp(of_x, of_y);
    if (order)
        return order;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->tail != y->tail)
        return x->tail - y->tail;
    if (x->open != y->open)
        return x->open - y->open;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void print_quoted(struct printer *p, const char *text)
{
    printer_write(p, "\"");
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        char part[1024];
        if (plain) {
            snprintf(part, sizeof part, "%.*s", (int)plain, text);
            printer_foreign(p, part);
        } else {
            printer_write(p, "\\%c", *text);
            plain = 1;
        }
        text += plain;
    }
    printer_write(p, "\"");
}

/* Draws a single edge for all sites with the same target and offset. */
static int print_dot(struct printer *p, const struct image *image, const struct calls *calls,
                     uint32_t function)
{
    char name[1024], target[1024];
    const struct call_site *sites;
    size_t count = calls_of(calls, function, &sites);
    if (count == 0)
        return 0;
    struct call_site *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, sites, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_target);
    function_name(image, function, name, sizeof name);
    for (size_t i = 0; i < count; i++) {
        const struct call_site *s = &sorted[i];
        if (i && by_target(s - 1, s) == 0)
            continue;
        printer_write(p, "  ");
        print_quoted(p, name);
        printer_write(p, " -> ");
        bool unknown = s->kind == CALL_INDIRECT && !s->target;
        print_quoted(p, unknown ? "*" : target_name(image, s, target, sizeof target));
        if (s->tail)
            printer_write(p, " [label=\"tail\"");
        else if (s->open)
            printer_write(p, " [label=\"open\"");
        else
            printer_write(p, " [label=\"%+d\"", (int)s->offset);
        printer_write(p, "%s\n", s->kind == CALL_INDIRECT ? ", style=dashed];" : "];");
    }
    free(sorted);
    return 0;
}

static bool is_wanted(const struct image *image, uint32_t function, const char *wanted)
{
    char name[1024];
    const char *symbol = image_function(image, function)->name;
    if (!wanted || (symbol && strcmp(symbol, wanted) == 0))
        return true;
    return strcmp(function_name(image, function, name, sizeof name), wanted) == 0;
}

int fathom_graph_write(const struct fathom_graph *g, const struct fathom_graph_options *options, FILE *out,
                       struct fathom_error *err)
{
    struct printer printer = {.out = out}, *p = &printer;
    bool found = false;
    if (options->format == FATHOM_GRAPH_DOT)
        printer_write(p, "digraph calls {\n");
    for (uint32_t f = 0; f < image_function_count(g->image); f++) {
        if (!is_wanted(g->image, f, options->function))
            continue;
        found = true;
        if (options->format == FATHOM_GRAPH_TEXT)
            print_text(p, g->image, g->calls, f);
        else if (print_dot(p, g->image, g->calls, f) < 0)
            return error_memory(err);
    }
    if (options->format == FATHOM_GRAPH_DOT)
        printer_write(p, "}\n");
    if (found)
        return 0;
    return error_set(err, ENOENT, "%s has no function %s", image_path(g->image),
                     options->function ? options->function : "");
}

int fathom_graph_open(const char *path, const struct fathom_listener *listener, struct fathom_graph **out,
                      struct fathom_error *err)
{
    struct fathom_graph *g = calloc(1, sizeof *g);
    struct host host;
    if (!g)
        return error_memory(err);
    host_init(&host, listener);
    struct image_options options = {.debuginfod = debuginfod_new(&host.log)};
    int rc = image_open(path, &options, &g->image, err);
    debuginfod_free(options.debuginfod);
    if (rc == 0) {
        progress_show(&host.progress, "reading the code", 0, 0);
        rc = calls_build(g->image, &g->calls, err);
    }
    if (rc < 0)
        fathom_graph_close(g);
    else
        *out = g;
    return rc;
}

void fathom_graph_close(struct fathom_graph *g)
{
    if (!g)
        return;
    calls_free(g->calls);
    image_close(g->image);
    free(g);
}
