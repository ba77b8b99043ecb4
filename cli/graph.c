/* graph.c - `fathom graph IMAGE`: the call sites in a binary's code, with the stack depth at each. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "image/calls/calls.h"
#include "image/debuginfod.h"
#include "image/name.h"

struct graph_options {
    enum graph_format { GRAPH_TEXT, GRAPH_DOT } format;
    const char *function; /* only this one's calls; NULL: all */
};

static const char *function_name(const struct image *image, uint32_t function, char *out, size_t size)
{
    image_function_format(image, function, out, size);
    return out;
}

/* Names the callee: a function, a symbol, or what is known about where its address comes from. */
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

static void print_text(const struct image *image, const struct calls *calls, uint32_t function)
{
    char name[1024], target[1024];
    const struct call_site *sites;
    size_t count = calls_of(calls, function, &sites);
    if (count == 0)
        return;
    terminal_print(function_name(image, function, name, sizeof name));
    putchar('\n');
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
        printf("  %8llx %8s  ", (unsigned long long)s->address, offset);
        terminal_print(target);
        puts(note);
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

static void print_quoted(const char *text)
{
    putchar('"');
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        char part[1024];
        if (plain) {
            snprintf(part, sizeof part, "%.*s", (int)plain, text);
            terminal_print(part);
        } else {
            printf("\\%c", *text);
            plain = 1;
        }
        text += plain;
    }
    putchar('"');
}

/* Draws one edge for all sites with the same target and offset. */
static int print_dot(const struct image *image, const struct calls *calls, uint32_t function)
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
        fputs("  ", stdout);
        print_quoted(name);
        fputs(" -> ", stdout);
        bool unknown = s->kind == CALL_INDIRECT && !s->target;
        print_quoted(unknown ? "*" : target_name(image, s, target, sizeof target));
        if (s->tail)
            fputs(" [label=\"tail\"", stdout);
        else if (s->open)
            fputs(" [label=\"open\"", stdout);
        else
            printf(" [label=\"%+d\"", (int)s->offset);
        puts(s->kind == CALL_INDIRECT ? ", style=dashed];" : "];");
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

static int print_graph(const struct image *image, const struct calls *calls,
                       const struct graph_options *options, struct fathom_error *err)
{
    bool found = false;
    if (options->format == GRAPH_DOT)
        puts("digraph calls {");
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        if (!is_wanted(image, f, options->function))
            continue;
        found = true;
        if (options->format == GRAPH_TEXT)
            print_text(image, calls, f);
        else if (print_dot(image, calls, f) < 0)
            return error_memory(err);
    }
    if (options->format == GRAPH_DOT)
        puts("}");
    if (found)
        return 0;
    return error_set(err, ENOENT, "%s has no function %s", image_path(image),
                     options->function ? options->function : "");
}

static int graph_image(const char *path, const struct graph_options *options, struct terminal *terminal,
                       struct fathom_error *err)
{
    struct image *image;
    struct calls *calls;
    struct image_options image_options = {.debuginfod = debuginfod_new(&terminal->log)};
    int rc = image_open(path, &image_options, &image, err);
    debuginfod_free(image_options.debuginfod);
    if (rc < 0)
        return rc;
    progress_show(&terminal->progress, "reading the code", 0, 0);
    rc = calls_build(image, &calls, err);
    terminal_progress_end(terminal);
    if (rc == 0) {
        rc = print_graph(image, calls, options, err);
        calls_free(calls);
    }
    image_close(image);
    return rc;
}

static int graph_run(int argc, char **argv, struct terminal *terminal)
{
    struct graph_options options = {0};
    int code = options_parse(&graph_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (argc - optind != 1)
        return option_usage(terminal, &graph_command, "give one program or library");
    struct fathom_error err = {0};
    privilege_only_read(terminal);
    int rc = graph_image(argv[optind], &options, terminal, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    return rc < 0 ? exit_code_of(&err) : EXIT_OK;
}

static const struct option_word formats[] = {{"text", GRAPH_TEXT}, {"dot", GRAPH_DOT}, {0}};

static const struct option_row rows[] = {
    OPTION_CHOICE("format", 'f', "FORMAT", formats, enum graph_format, struct graph_options, format,
                  "text or dot (for Graphviz)"),
    OPTION_TEXT("function", 'F', "NAME", struct graph_options, function, "only the calls of this function"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command graph_command = {
    .name = "graph",
    .summary = "list the calls in a binary's code",
    .synopsis = "[OPTIONS] IMAGE",
    .about = "Lists each function's calls: address, bytes of stack from its frame to the callee's ('tail': a "
             "tail call; 'open': not a fixed number), and the callee: a function, SYMBOL@import, 'the "
             "loader' if it resolves the callee, or '*' for a call through a pointer.",
    .options = rows,
    .paged = true,
    .run = graph_run,
};
