/*
 * autofdo.c - see export.h. A sample profile for LLVM (llvm/ProfileData/SampleProfReader.h, "text"): how often each function's lines ran,
 * by their offset from the function's line and by discriminator, with the functions inlined into it.
 */
#include "report/export/export.h"
#include "report/export/source_counts.h"

static void write_place(struct printer *p, int depth, struct source_place at)
{
    printer_write(p, at.discriminator ? "%*s%u.%u: " : "%*s%u: ", depth, "", at.offset, at.discriminator);
}

void autofdo_line(struct printer *p, const struct source_counts *c, const struct source_line *line, int depth)
{
    size_t first;
    write_place(p, depth, line->at);
    printer_write(p, "%llu", (unsigned long long)line->count);
    for (size_t n = source_counts_targets(c, line, &first); n--; first++)
        printer_write(p, " %s:%llu", names_text(c->names, c->targets[first].name),
                      (unsigned long long)c->targets[first].count);
    printer_write(p, "\n");
}

static void write_function(struct printer *p, const struct source_counts *c, uint32_t function, int depth)
{
    size_t first;
    for (size_t n = source_counts_lines(c, function, &first); n--; first++)
        autofdo_line(p, c, &c->lines[first], depth);
    for (size_t n = source_counts_children(c, function, &first); n--; first++) {
        const struct source_function *inlined = &c->functions[c->order[first]];
        write_place(p, depth, inlined->at);
        printer_write(p, "%s:%llu\n", names_text(c->names, inlined->name),
                      (unsigned long long)inlined->total);
        write_function(p, c, c->order[first], depth + 1);
    }
}

int autofdo_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct printer p = {.out = out};
    struct source_counts c;
    size_t first;
    int rc = source_counts_find(report, SOURCE_LLVM, &c, err);
    for (size_t n = rc == 0 ? source_counts_children(&c, SOURCE_FUNCTION_NONE, &first) : 0; n--; first++) {
        const struct source_function *f = &c.functions[c.order[first]];
        if (!f->total)
            continue;
        printer_write(&p, "%s:%llu:%llu\n", names_text(c.names, f->name), (unsigned long long)f->total,
                      (unsigned long long)f->head);
        write_function(&p, &c, c.order[first], 1);
    }
    source_counts_clear(&c);
    return rc == 0 ? printer_finish(&p, err) : rc;
}
