/* text.c - hot streams as text: the hottest one of each kind, with its steps and objects. */
#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "report/streams/streams.h"
#include "report/text/printer.h"
#include "report/text/weight.h"

#define STEPS_SHOWN   12u
#define PATHS_SHOWN   3u
#define OBJECTS_SHOWN 6u /* groups of the same size and path */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *what_of(const struct shown_streams *s)
{
    return s->data ? "references" : "executions";
}

static void write_heading(struct printer *p, const struct shown_streams *s)
{
    char share[SHARE_SIZE];
    printer_write(p, "%s: %" PRIu64 " in %" PRIu64 " burst%s\n", what_of(s), s->references, s->bursts,
                  plural(s->bursts));
    printer_write(p, "hot:        %s of them, in %zu stream%s of %zu kind%s\n",
                  share_format(share, s->hot, s->references), s->streams, plural(s->streams), s->kinds,
                  plural(s->kinds));
    if (s->lost)
        printer_write(p, "lost:       %" PRIu64 " records, which the log had no room for\n", s->lost);
    if (s->unknown)
        printer_write(p, "unknown:    %" PRIu64 " records of instructions that no list of places has\n",
                      s->unknown);
}

/* "main > run > walk", only its end if it is too long. */
static void write_path(struct printer *p, const char *path, size_t before, size_t width)
{
    size_t length = path ? strlen(path) : 0, room = width > before + 20 ? width - before : 20;
    if (!path)
        printer_write(p, "(unknown)");
    else if (!width || length <= room)
        printer_foreign(p, path);
    else {
        const char *from = path + length - (room - 3);
        while (((unsigned char)*from & 0xc0) == 0x80)
            from++; /* not within a character */
        printer_write(p, "...");
        printer_foreign(p, from);
    }
    printer_write(p, "\n");
}

static void write_paths(struct printer *p, const struct shown_stream *s, size_t width)
{
    char share[SHARE_SIZE];
    uint64_t all = 0;
    for (size_t i = 0; i < s->path_count; i++)
        all += s->paths[i].count;
    for (size_t i = 0; i < s->path_count && i < PATHS_SHOWN; i++) {
        printer_write(p, "  %-7s %6s  ", i ? "" : "under", share_format(share, s->paths[i].count, all));
        write_path(p, s->paths[i].path, 18, width);
    }
    if (!s->path_count)
        printer_write(
            p,
            "  under   unknown: no burst with it began in one of its functions, or in what these called\n");
    if (s->path_count > PATHS_SHOWN)
        printer_write(p, "          and %zu more\n", s->path_count - PATHS_SHOWN);
}

static bool are_alike(const struct shown_object *a, const struct shown_object *b)
{
    return a->kind == b->kind && a->size == b->size && a->path == b->path && a->name == b->name;
}

static void write_object(struct printer *p, const struct shown_object *o, size_t width)
{
    static const char *const kinds[] = {[SHOWN_STACK] = "of a stack", [SHOWN_OTHER] = "of other memory"};
    printer_write(p, "%" PRIu64 " byte%s, ", o->size, plural(o->size));
    if (o->kind == SHOWN_HEAP) {
        printer_write(p, "allocated under ");
        write_path(p, o->path, 46, width);
    } else if (o->kind == SHOWN_SYMBOL) {
        printer_foreign(p, o->name);
        printer_write(p, "\n");
    } else {
        printer_write(p, "%s\n", kinds[o->kind]);
    }
}

static size_t first_alike(const struct shown_stream *s, size_t which)
{
    size_t first = 0;
    while (!are_alike(&s->objects[first], &s->objects[which]))
        first++;
    return first;
}

/* The number of objects in [0, end) that are like this one. */
static size_t count_alike(const struct shown_stream *s, size_t which, size_t end)
{
    size_t count = 0;
    for (size_t i = 0; i < end; i++)
        count += are_alike(&s->objects[i], &s->objects[which]);
    return count;
}

/* "A" for all objects like the first one, "B" for those like the next different one, and so on; "Z" for all further ones. */
static char letter_of(const struct shown_stream *s, size_t which)
{
    size_t first = first_alike(s, which), before = 0;
    for (size_t i = 0; i < first; i++)
        before += first_alike(s, i) == i;
    return before < 26 ? (char)('A' + before) : 'Z';
}

/* Objects that are alike share a line. */
static void write_objects(struct printer *p, const struct shown_stream *s, size_t width)
{
    size_t groups = 0, told = 0;
    for (size_t i = 0; i < s->object_count && groups < OBJECTS_SHOWN; i++) {
        if (first_alike(s, i) != i)
            continue;
        size_t count = count_alike(s, i, s->object_count);
        printer_write(p, "  %-7s %c %5zu  ", groups ? "" : "objects", letter_of(s, i), count);
        write_object(p, &s->objects[i], width);
        groups++;
        told += count;
    }
    if (told < s->object_count)
        printer_write(p, "          and %zu more\n", s->object_count - told);
}

/* The object and the offset in it: "A3 +8". */
static void write_place(struct printer *p, const struct shown_stream *s, const struct shown_step *step)
{
    if (step->object == SHOWN_NO_OBJECT)
        return;
    printer_write(p, "%c%zu +%" PRIu64 "  ", letter_of(s, step->object),
                  count_alike(s, step->object, step->object + 1ul), step->offset);
}

static void write_step(struct printer *p, const struct shown_stream *s, size_t number)
{
    const struct shown_step *step = &s->steps[number];
    const char *what = step->load && step->store ? "update"
                       : step->load              ? "load"
                       : step->store             ? "store"
                                                 : "run";
    printer_write(p, "  %-7s %-6s ", number ? "" : "steps", what);
    write_place(p, s, step);
    printer_foreign(p, step->function);
    if (step->file) {
        printer_write(p, "  ");
        printer_foreign(p, path_base(step->file));
        printer_write(p, ":%u", step->line);
    }
    printer_write(p, "\n");
}

static void write_steps(struct printer *p, const struct shown_stream *s)
{
    for (size_t i = 0; i < s->step_count && i < STEPS_SHOWN; i++)
        write_step(p, s, i);
    if (s->length > STEPS_SHOWN)
        printer_write(p, "          and %" PRIu64 " more\n", s->length - STEPS_SHOWN);
}

static void write_lines(struct printer *p, const struct shown_lines *l, const char *whose)
{
    printer_write(p, "  %-7s %" PRIu64 " cache line%s, where %" PRIu64 " would do side by side", whose,
                  l->touched, plural(l->touched), l->together);
    if (l->used < l->together)
        printer_write(p, ", and %" PRIu64 " for the bytes that are used", l->used);
    printer_write(p, "\n");
}

static void write_stream(struct printer *p, const struct shown_streams *all, size_t number)
{
    const struct shown_stream *s = &all->list[number];
    char share[SHARE_SIZE];
    printer_write(p, "\n%zu. %s of all %s: %zu stream%s", number + 1,
                  share_format(share, s->alike_heat, all->references), what_of(all), s->alike,
                  s->alike == 1 ? "" : "s alike");
    if (all->data)
        printer_write(p, ", %zu object%s", s->alike_objects, plural(s->alike_objects));
    printer_write(p, "\n");
    if (all->data)
        write_lines(p, &s->alike_lines, "all");
    printer_write(p, "  hottest %s of all %s: %" PRIu64 " in this order, %" PRIu64 " time%s\n",
                  share_format(share, s->length * s->occurrences, all->references), what_of(all), s->length,
                  s->occurrences, plural(s->occurrences));
    write_paths(p, s, all->width);
    if (all->data) {
        write_lines(p, &s->lines, "lines");
        write_objects(p, s, all->width);
    }
    write_steps(p, s);
}

int streams_text_write(const struct shown_streams *s, FILE *out, struct fathom_error *err)
{
    struct printer p = {.out = out};
    write_heading(&p, s);
    for (size_t i = 0; i < s->count; i++)
        write_stream(&p, s, i);
    if (s->count < s->kinds)
        printer_write(&p, "\nand %zu more kind%s; --rows shows more\n", s->kinds - s->count,
                      plural(s->kinds - s->count));
    return printer_finish(&p, err);
}
