/* say.c - what `fathom disambig` reports. */
#include <stdio.h>
#include <stdlib.h>

#include "api/disambig/disambig.h"
#include "report/text/printer.h"

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

/* The number of frames that grow, including those of copies. *most: largest growth, in bytes. */
static size_t count_pads(const struct fathom_disambig *d, uint32_t *most)
{
    size_t count = 0;
    *most = 0;
    for (size_t i = 0; i < d->pad_count; i++) {
        count += d->pads[i].bytes > 0;
        *most = d->pads[i].bytes > *most ? d->pads[i].bytes : *most;
    }
    return count;
}

static void say_copies(const struct fathom_disambig *d, FILE *out)
{
    const struct bodies *bodies = d->cloned.bodies;
    uint32_t functions = 0;
    for (uint32_t f = 0; bodies && f < pathmap_function_count(d->map); f++)
        functions += bodies_copies(bodies, f) > 1;
    if (bodies)
        fprintf(
            out,
            "copies:    %u, of %u functions, for some of their callers: %llu bytes of code, %.1f%% more\n",
            d->cloned.copies, functions, (unsigned long long)d->cloned.code,
            percent_of(d->cloned.code, d->cloned.all_code));
}

/* Reports calls through pointers, which execute comparisons. */
static void say_guards(const struct fathom_disambig *d, FILE *out)
{
    const struct pointed_sum *sum = &d->cloned.guarded;
    uint64_t all = 0;
    for (uint32_t i = 0; sum->places && i < pathmap_node_count(d->map); i++)
        all += pathmap_node(d->map, i).passes;
    if (d->methods.edges)
        fprintf(out,
                "guards:    at %u of the %u calls through pointers that can have some, %.2f%% of all calls; "
                "at most %.2f are executed for 100 calls\n",
                sum->places, sum->possible, all ? percent_of(sum->calls, all) : 0,
                all ? percent_of(sum->executed, all) : 0);
}

/* Finds the functions that call others on the map's paths: only their frames matter. */
static bool *find_callers(const struct fathom_disambig *d)
{
    bool *calls = calloc(pathmap_function_count(d->map) + 1ul, sizeof *calls);
    for (uint32_t i = 0; calls && i < pathmap_node_count(d->map); i++) {
        uint32_t parent = pathmap_node(d->map, i).parent;
        if (parent != PATHMAP_NONE)
            calls[pathmap_node(d->map, parent).function] = true;
    }
    return calls;
}

/* Whether a function or copy has added instructions. */
static bool has_inserted(const struct fathom_disambig *d, uint32_t number)
{
    const struct bodies *bodies = d->cloned.bodies;
    return d->found.pads[number] && d->join.inserted[bodies ? bodies_function(bodies, number) : number];
}

/* Reports the functions with added instructions, and their share of the map's calls. */
static void say_inserted(const struct fathom_disambig *d, FILE *out)
{
    const struct bodies *bodies = d->cloned.bodies;
    const struct pathmap *map = bodies ? d->cloned.cloned.map : d->map;
    uint64_t calls = 0, all = 0;
    uint32_t functions = 0;
    for (uint32_t f = 0; f < pathmap_function_count(map); f++)
        functions += has_inserted(d, f);
    for (uint32_t i = 0; functions && i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        all += node.passes;
        calls += has_inserted(d, node.function) ? node.passes : 0;
    }
    if (functions)
        fprintf(out,
                "added:     at most two instructions to each call of %u functions, %.2f%% of all calls\n",
                functions, percent_of(calls, all));
}

static void say_wraps(const struct fathom_disambig *d, FILE *out)
{
    const struct wrap_result *w = &d->wrapped;
    if (!w->all_calls)
        return;
    fprintf(out,
            "wrapped:   the calls of %u pairs of functions, %zu call sites: two instructions more for %.2f%% "
            "of all calls; %u of the map's call sites can be\n",
            w->edges, w->count, percent_of(w->calls, w->all_calls), w->possible);
    for (unsigned r = 1; r < WRAP_REFUSALS; r++)
        if (w->refused[r])
            fprintf(out, "  left alone: %5u  %s\n", w->refused[r], wrap_refusal_text((enum wrap_refusal)r));
}

static void say_frames(const struct fathom_disambig *d, FILE *out)
{
    uint32_t all = 0, fit = 0, anew = 0, inserted = 0, nameless = 0, refused[GROWTH_REFUSALS] = {0};
    uint32_t most;
    size_t growing = count_pads(d, &most);
    bool *calls = find_callers(d);
    for (uint32_t f = 0; calls && f < pathmap_function_count(d->map); f++) {
        if (!calls[f] || d->join.functions[f] == IMAGE_NO_FUNCTION)
            continue;
        all++;
        fit += d->join.most[f] > 0;
        anew += d->join.anew[f];
        inserted += d->join.inserted[f];
        if (!d->join.most[f] && !d->growth)
            nameless++;
        else if (!d->join.most[f])
            refused[growth_refusal(d->growth, d->join.functions[f])]++;
    }
    free(calls);
    fprintf(out, "frames:    %u of the %u functions that call others can grow", fit, all);
    if (anew)
        fprintf(out, ", %u of them only by being emitted anew", anew);
    if (inserted)
        fprintf(out, ", %u by added instructions", inserted);
    if (growing)
        fprintf(out, "; %zu %s, by up to %u bytes\n", growing, growing == 1 ? "does" : "do", most);
    else
        fprintf(out, "; none does\n");
    for (unsigned r = 1; r < GROWTH_REFUSALS; r++)
        if (refused[r])
            fprintf(out, "  left alone: %5u  %s\n", refused[r], growth_refusal_text((enum growth_refusal)r));
    if (nameless)
        fprintf(out, "  left alone: %5u  it has no symbol that no other function has\n", nameless);
    if (d->join.unsited)
        fprintf(out, "  left alone: %5u  the map does not know where they call from\n", d->join.unsited);
}

int fathom_disambig_print(const struct fathom_disambig *d, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    const struct search_result *r = &d->found;
    const char *unit = pathmap_sampled(d->map) ? "samples" : "calls";
    fprintf(out, "precise:   %.2f%% of the %s, %.2f%% before; %.2f%% of the paths, %.2f%% before\n",
            percent_of(r->precise_after, r->weight), unit, percent_of(r->precise_before, r->weight_before),
            percent_of(r->paths_precise_after, r->paths),
            percent_of(r->paths_precise_before, r->paths_before));
    fprintf(out, "stack:     %.2f times as long: %u bytes at the most, %u before\n",
            r->stack_before ? (double)r->stack_after / r->stack_before : 1.0, r->stack_after,
            r->stack_before);
    say_frames(d, out);
    say_inserted(d, out);
    say_copies(d, out);
    say_guards(d, out);
    say_wraps(d, out);
    fprintf(out, "search:    %llu steps, %.2f s\n", (unsigned long long)r->steps, d->seconds);
    if (d->options.emit) {
        fprintf(out, "written:   ");
        printer_foreign(&printer, d->options.emit);
        fprintf(out, ": compile the program with it (docs/pads.md), and train it again\n");
    }
    if (d->options.output) {
        char id[2 * BUILD_ID_MAX + 1];
        if (d->file.anew)
            fprintf(out, "moved:     %zu function%s, %llu bytes of code\n", d->file.anew,
                    d->file.anew == 1 ? "" : "s", (unsigned long long)d->file.moved.emitted_bytes);
        build_id_format(&d->file.id, id);
        fprintf(out, "written:   ");
        printer_foreign(&printer, d->options.output);
        fprintf(out, " (build-id %s)%s", id[0] ? id : "none", d->options.map_output ? ", " : "");
        if (d->options.map_output)
            printer_foreign(&printer, d->options.map_output);
        fputc('\n', out);
    }
    return printer_finish(&printer, err);
}
