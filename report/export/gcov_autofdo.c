/*
 * gcov_autofdo.c - see export.h. The profile of autofdo.c in the format of GCC's -fauto-profile=FILE (gcc/auto-profile.cc, version 2, since
 * GCC 12; gcc/gcov-io.h): words of 4 bytes in native byte order, counters of 8 bytes, function names first.
 */
#include <string.h>

#include "report/export/export.h"
#include "report/export/source_counts.h"
#include "report/text/printer.h"

#define MAGIC     0x67636461u /* "gcda" */
#define VERSION   2u
#define NAMES     0xaa000000u
#define FUNCTIONS 0xac000000u
#define MODULES   0xae000000u
#define HISTOGRAM 6u /* HIST_TYPE_INDIR_CALL_TOPN: targets of an indirect call */

struct gcov {
    struct printer printer;
    const struct source_counts *counts;
};

static void put_word(struct gcov *g, uint32_t word)
{
    printer_bytes(&g->printer, (const char *)&word, sizeof word);
}

static void put_count(struct gcov *g, uint64_t count)
{
    put_word(g, (uint32_t)count);
    put_word(g, (uint32_t)(count >> 32));
}

static void put_name(struct gcov *g, const char *name)
{
    put_word(g, (uint32_t)strlen(name) + 1);
    printer_bytes(&g->printer, name, strlen(name) + 1);
}

static void put_place(struct gcov *g, struct source_place at)
{
    put_word(g, at.offset << 16 | (at.discriminator & 0xffff));
}

static void put_function(struct gcov *g, uint32_t function)
{
    const struct source_counts *c = g->counts;
    size_t line, child, lines = source_counts_lines(c, function, &line),
                        children = source_counts_children(c, function, &child);
    put_word(g, c->functions[function].name);
    put_word(g, (uint32_t)lines);
    put_word(g, (uint32_t)children);
    for (; lines--; line++) {
        put_place(g, c->lines[line].at);
        size_t target, targets = source_counts_targets(c, &c->lines[line], &target);
        put_word(g, (uint32_t)targets);
        put_count(g, c->lines[line].count);
        for (; targets--; target++) {
            put_word(g, HISTOGRAM);
            put_count(g, c->targets[target].name);
            put_count(g, c->targets[target].count);
        }
    }
    for (; children--; child++) {
        put_place(g, c->functions[c->order[child]].at);
        put_function(g, c->order[child]);
    }
}

static void put_all(struct gcov *g)
{
    const struct source_counts *c = g->counts;
    size_t first, count = source_counts_children(c, SOURCE_FUNCTION_NONE, &first);
    const uint32_t names = names_count(c->names);
    const uint32_t head[] = {MAGIC, VERSION, 0, NAMES, 0, names};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        put_word(g, head[i]);
    for (uint32_t i = 0; i < names; i++)
        put_name(g, names_text(c->names, i));
    put_word(g, FUNCTIONS);
    put_word(g, 0);
    put_word(g, (uint32_t)count);
    for (; count--; first++) {
        put_count(g, c->functions[c->order[first]].head);
        put_function(g, c->order[first]);
    }
    put_word(g, MODULES);
    put_word(g, 0);
    put_word(g, 0);
}

int gcov_autofdo_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct source_counts c;
    struct gcov g = {.printer = {.out = out}, .counts = &c};
    int rc = source_counts_find(report, SOURCE_GCC, &c, err);
    if (rc == 0)
        put_all(&g);
    source_counts_clear(&c);
    return rc == 0 ? printer_finish(&g.printer, err) : rc;
}
