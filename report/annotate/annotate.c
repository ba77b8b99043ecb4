/*
 * annotate.c - see annotate.h. The output is a heading, the hottest lines, and the instructions by address, each run of
 * instructions below its source line.
 */
#include "report/annotate/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/cache.h"
#include "image/run_time.h"
#include "report/annotate/code.h"
#include "report/annotate/origin.h"
#include "report/annotate/script.h"
#include "report/annotate/sources.h"
#include "report/text/printer.h"
#include "report/text/shorten.h"
#include "report/text/weight.h"

enum {
    TEXT_MOST = 240,      /* bytes of a source line, if the output has no width */
    OTHERS_MOST = 10,     /* other matching functions that are named */
    INLINED_COLUMNS = 32, /* of an inlined function's name, to leave space for the source */
    LINES_MOST = 20,      /* unless max_rows says how many */
};
#define SOURCE_COLOUR "\033[34m"

struct annotating {
    const struct report *report;
    const struct chosen *function;
    struct annotated_code *code;
    struct lines *lines; /* NULL: no debug information */
    struct sources *sources;
    struct printer printer;
    int weight_columns, address_columns;
};

struct line_weight {
    struct origin origin;
    uint64_t weight;
};

/* A function's name; if the output has a width, at most `most` columns of it. */
static void write_name(struct annotating *a, const char *name, size_t most)
{
    char *shorter = a->report->view->width ? name_shorten(name, most) : NULL;
    printer_foreign(&a->printer, shorter ? shorter : name);
    free(shorter);
}

/* A source line without its indentation, cut to the remaining columns. */
static void write_source(struct annotating *a, const struct origin *o, size_t began)
{
    char text[TEXT_MOST + 1];
    size_t length, width = a->report->view->width, used = a->printer.written - began;
    size_t most = !width ? TEXT_MOST : width > used + 8 ? width - used - 2 : 8;
    const char *line = o->file ? sources_line(a->sources, o->file, o->line, &length) : NULL;
    while (line && length && (*line == ' ' || *line == '\t'))
        line++, length--;
    if (!line)
        return;
    most = most > TEXT_MOST ? TEXT_MOST : most;
    size_t shown = length > most ? most - 3 : length;
    while (shown < length && shown && ((unsigned char)line[shown] & 0xc0) == 0x80)
        shown--; /* in the middle of a character */
    for (size_t i = 0; i < shown; i++)
        text[i] = line[i] == '\t' ? ' ' : line[i];
    text[shown] = 0;
    printer_write(&a->printer, "  ");
    printer_foreign(&a->printer, text);
    printer_write(&a->printer, "%s", shown < length ? "..." : "");
}

/* "loop.c:12  inner (inlined)  text" */
static void write_origin(struct annotating *a, const struct origin *o, size_t began)
{
    printer_foreign(&a->printer, o->file ? path_base(o->file) : "(no line is known)");
    if (o->file)
        printer_write(&a->printer, ":%u", o->line);
    if (o->inlined && o->function) {
        printer_write(&a->printer, "  ");
        write_name(a, o->function, INLINED_COLUMNS);
        printer_write(&a->printer, " (inlined)");
    }
    write_source(a, o, began);
}

/* "  12.3%   45.6 ms  " */
static void write_share(struct annotating *a, uint64_t weight)
{
    char share[SHARE_SIZE], text[WEIGHT_SIZE];
    if (!weight) {
        printer_write(&a->printer, "%7s  %*s  ", "", a->weight_columns, "");
        return;
    }
    printer_write(&a->printer, "%7s  %*s  ", share_format(share, weight, a->code->total), a->weight_columns,
                  weight_format(text, weight, a->report->view->unit));
}

/* "inner (inlined) (loop" */
static void write_whose(struct annotating *a, const struct chosen *f, size_t room)
{
    write_name(a, f->name, room);
    printer_write(&a->printer, "%s (", f->inlined ? " (inlined)" : "");
    printer_foreign(&a->printer, image_name(f->image));
}

/* A function into which the chosen one is inlined. */
static void write_host(struct annotating *a, uint32_t function)
{
    char name[1024];
    image_function_format(a->function->image, function, name, sizeof name);
    write_name(a, name, INLINED_COLUMNS);
}

static void write_hosts(struct annotating *a)
{
    for (size_t i = 0; i < a->code->host_count && i < OTHERS_MOST; i++) {
        printer_write(&a->printer, i ? ", " : "into:     ");
        write_host(a, a->code->hosts[i]);
    }
    if (a->code->host_count > OTHERS_MOST)
        printer_write(&a->printer, " and %zu more", a->code->host_count - OTHERS_MOST);
    printer_write(&a->printer, "%s", a->code->host_count ? "\n" : "");
}

static void write_heading(struct annotating *a, const struct chosen *functions, size_t count)
{
    const struct view_heading *heading = a->report->heading;
    const struct chosen *f = a->function;
    struct printer *p = &a->printer;
    char share[SHARE_SIZE], weight[WEIGHT_SIZE];
    size_t room = a->report->view->width > 60 ? a->report->view->width - 40 : 20;
    printer_write(p, "function: ");
    write_whose(a, f, room);
    printer_write(p, ")\nweight:   %s, %s of %s; samples: %llu, contexts: %llu\n",
                  weight_format(weight, f->weight, a->report->view->unit),
                  share_format(share, f->weight, heading->weight), heading->event ? heading->event : "all",
                  (unsigned long long)f->samples, (unsigned long long)f->contexts);
    if (a->report->view->annotate->path) {
        printer_write(p, "path:     ");
        printer_foreign(p, a->report->view->annotate->path);
        printer_write(p, "\n");
    }
    write_hosts(a);
    for (size_t i = 1; i < count && i <= OTHERS_MOST; i++) {
        printer_write(p, i == 1 ? "also:     " : "          ");
        write_whose(a, &functions[i], room);
        printer_write(p, ") %s\n", share_format(share, functions[i].weight, heading->weight));
    }
    if (count > OTHERS_MOST + 1)
        printer_write(p, "          and %zu more\n", count - OTHERS_MOST - 1);
    if (!a->lines)
        printer_write(p, "lines:    no debug information was found for it\n");
    printer_write(p, "\n");
}

static int by_weight(const void *a, const void *b)
{
    const struct line_weight *l = a, *m = b;
    return order_of(m->weight, l->weight) ?: order_of(l->origin.line, m->origin.line);
}

/* Adds up the weight of instructions by their source line. */
static bool add_up_lines(const struct annotating *a, struct line_weight **out, size_t *count)
{
    struct table *known = table_new();
    size_t capacity = 0;
    bool good = known;
    for (size_t i = 0; i < a->code->count && good; i++) {
        const struct annotated_insn *insn = &a->code->insns[i];
        if (!insn->weight)
            continue;
        struct origin o = origin_at(a->lines, insn->address);
        size_t place = table_index(known, origin_key(&o), *out, *count, capacity, (struct line_weight){o, 0});
        good = place != SIZE_MAX;
        if (good)
            (*out)[place].weight = add_saturating((*out)[place].weight, insn->weight);
    }
    table_free(known);
    return good;
}

static int write_lines(struct annotating *a, struct fathom_error *err)
{
    const struct view_options *view = a->report->view;
    struct line_weight *lines = NULL;
    size_t count = 0, most = view->max_rows ? view->max_rows : LINES_MOST;
    if (!a->lines)
        return 0;
    if (!add_up_lines(a, &lines, &count)) {
        free(lines);
        return error_memory(err);
    }
    sort_with(lines, count, by_weight);
    printer_write(&a->printer, "%7s  %*s  line\n", "share", a->weight_columns, weight_title(view->unit));
    for (size_t i = 0; i < count && i < most; i++) {
        uint64_t weight = lines[i].weight;
        if ((double)weight * 100 < view->min_percent * (double)a->code->total)
            break;
        size_t began = a->printer.written;
        printer_write(&a->printer, "%s", row_colour(view->colour, weight, a->code->total));
        write_share(a, weight);
        write_origin(a, &lines[i].origin, began);
        printer_write(&a->printer, "%s\n", row_colour_end(view->colour, weight, a->code->total));
    }
    printer_write(&a->printer, "\n");
    free(lines);
    return 0;
}

static void write_insn(struct annotating *a, const struct annotated_insn *insn)
{
    char text[DISASSEMBLED_SIZE + 300];
    bool colour = a->report->view->colour;
    annotated_insn_format(a->code, insn, text, sizeof text);
    printer_write(&a->printer, "%s", row_colour(colour, insn->weight, a->code->total));
    write_share(a, insn->weight);
    printer_write(&a->printer, "%*llx  ", a->address_columns, (unsigned long long)insn->address);
    printer_foreign(&a->printer, text);
    printer_write(&a->printer, "%s\n", row_colour_end(colour, insn->weight, a->code->total));
}

/* Writes how many instructions are left out, and their weight. Returns the index of the next one that is shown. */
static size_t write_gap(struct annotating *a, size_t first)
{
    const struct annotated_code *c = a->code;
    uint64_t weight = 0;
    size_t i = first;
    for (; i < c->count && !c->insns[i].shown; i++)
        weight = add_saturating(weight, c->insns[i].weight);
    write_share(a, weight);
    printer_write(&a->printer, "%*s  (%zu instructions)\n", a->address_columns, "...", i - first);
    return i;
}

/* Says where the inlined copy is that begins with this instruction. */
static void write_copy(struct annotating *a, const struct annotated_insn *insn, uint32_t *last)
{
    uint32_t host = image_function_at(a->function->image, insn->address);
    if (!a->code->host_count || host == *last)
        return;
    printer_write(&a->printer, "%7s  %*s  in ", "", a->weight_columns, "");
    write_host(a, host);
    printer_write(&a->printer, ":\n");
    *last = host;
}

static void write_code(struct annotating *a)
{
    const struct annotated_code *c = a->code;
    bool colour = a->report->view->colour;
    struct origin last = {0};
    uint32_t host = IMAGE_NO_FUNCTION;
    printer_write(&a->printer, "%7s  %*s  %*s  instruction\n", "share", a->weight_columns,
                  weight_title(a->report->view->unit), a->address_columns, "address");
    for (size_t i = 0; i < c->count && !a->printer.failed;) {
        if (!c->insns[i].shown) {
            i = write_gap(a, i);
            last = (struct origin){0};
            continue;
        }
        struct origin o = origin_at(a->lines, c->insns[i].address);
        write_copy(a, &c->insns[i], &host);
        if (o.file && !origin_same(&o, &last)) {
            size_t began = a->printer.written;
            printer_write(&a->printer, "%s%7s  %*s  ", colour ? SOURCE_COLOUR : "", "", a->weight_columns,
                          "");
            write_origin(a, &o, began);
            printer_write(&a->printer, "%s\n", colour ? "\033[0m" : "");
        }
        last = o;
        write_insn(a, &c->insns[i++]);
    }
    if (c->unread)
        printer_write(&a->printer, "(%llu bytes of code are not shown)\n", (unsigned long long)c->unread);
}

static int write_function(struct annotating *a, const struct chosen *functions, size_t count,
                          struct fathom_error *err)
{
    const struct view_options *view = a->report->view;
    char text[32];
    uint64_t last = a->code->count ? a->code->insns[a->code->count - 1].address : 0;
    int digits = snprintf(text, sizeof text, "%llx", (unsigned long long)last);
    a->address_columns = digits > (int)strlen("address") ? digits : (int)strlen("address");
    a->weight_columns = weight_width(a->function->weight, view->unit);
    int rc = annotated_code_show(a->code, view->min_percent, view->max_rows, err);
    a->lines = image_cache_lines(view->images, a->function->image, IMAGE_LINES_ANY);
    a->sources = sources_new(image_cache_options(view->images)->symfs);
    if (rc == 0 && !a->sources)
        rc = error_memory(err);
    if (rc < 0)
        return rc;
    write_heading(a, functions, count);
    rc = write_lines(a, err);
    if (rc < 0)
        return rc;
    if (!image_is_run_time(a->function->image))
        write_code(a);
    return printer_finish(&a->printer, err);
}

/* Whether a script's function with exactly this name and this weight is a better match than these. */
static bool yields_to_script(const struct choice *choice, uint64_t weight)
{
    const struct chosen *functions;
    return choice_functions(choice, &functions) == 0 || !choice_is_by_name(choice) ||
           functions[0].weight < weight;
}

int annotate_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct choice *choice;
    struct annotated_code code = {0};
    const struct chosen *functions;
    struct annotate_options options = *report->view->annotate;
    options.images = report->view->images;
    options.inlined = report->view->inlined;
    uint64_t size, weight;
    const uint32_t script =
        options.path ? FRAMES_NONE : script_find(report->contexts, options.function, &weight);
    int rc = choice_new(report->contexts, &options, &choice, err);
    /* -EINVAL: the name is not a valid regular expression. */
    if (script != FRAMES_NONE &&
        (rc == -ENOENT || rc == -EINVAL || (rc == 0 && yields_to_script(choice, weight)))) {
        choice_free(rc == 0 ? choice : NULL);
        return script_annotate(report, script, out, err);
    }
    const struct image *unread = image_cache_unread(options.images, 0, &size);
    if (rc == -ENOENT && options.inlined && unread) {
        struct fathom_error why = *err;
        return error_set(err, ENOENT, "%s (functions inlined in %s%s were not looked for; --inline does)",
                         why.text, image_name(unread),
                         image_cache_unread(options.images, 1, &size) ? " and other files" : "");
    }
    if (rc < 0)
        return rc;
    size_t count = choice_functions(choice, &functions);
    struct annotating a = {.report = report, .function = functions, .code = &code, .printer = {.out = out}};
    rc = annotated_code_read(&code, report->contexts, choice, functions, err);
    if (rc == 0)
        rc = write_function(&a, functions, count, err);
    sources_free(a.sources);
    annotated_code_clear(&code);
    choice_free(choice);
    return rc;
}
