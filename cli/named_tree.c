/* named_tree.c - see named_tree.h. */
#include "cli/named_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "hcct/hcct.h"
#include "hcct/saved_tree.h"

int tree_names_init(struct tree_names *names, struct fathom_error *err)
{
    *names = (struct tree_names){.names = names_new(), .texts = arena_new(0)};
    return names->names && names->texts ? 0 : error_memory(err);
}

void tree_names_clear(struct tree_names *names)
{
    names_free(names->names);
    free(names->functions);
    arena_free(names->texts);
}

void named_tree_clear(struct named_tree *tree)
{
    cct_free(tree->tree);
    free(tree->unit);
}

/* "function (image)", or "image+0x123": what a function is called in every tree. NAMES_NONE: out of memory. */
static uint32_t name_of(struct tree_names *names, const struct trace_function *f)
{
    const char *slash = strrchr(f->image, '/'), *image = slash ? slash + 1 : f->image;
    char *text;
    int size = f->name[0] ? asprintf(&text, "%s (%s)", f->name, image)
                          : asprintf(&text, "%s+0x%" PRIx64, image, f->address);
    uint32_t known = names_count(names->names),
             number = size < 0 ? NAMES_NONE : names_intern(names->names, text);
    if (size >= 0)
        free(text);
    if (number != known) /* or out of memory */
        return number;
    if (!vec_reserve(names->functions, number, names->room, 1))
        return NAMES_NONE;
    struct trace_function *own = &names->functions[number];
    *own = (struct trace_function){arena_strdup(names->texts, f->image), arena_strdup(names->texts, f->name),
                                   f->address};
    return own->image && own->name ? number : NAMES_NONE;
}

/* Adds a tree to a named one. functions: of its items. */
static int add_named(struct cct *to, struct cct *from, const struct trace_function *functions, size_t count,
                     struct tree_names *names)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    struct cct_node *root = cct_root(from), *at = root, *place = cct_root(to);
    int rc = numbers ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = (numbers[i] = name_of(names, &functions[i])) == NAMES_NONE ? -ENOMEM : 0;
    while (rc == 0) {
        cct_weigh(to, place, at->self);
        *cct_error_of(place) = add_saturating(cct_error(place), cct_error(at));
        struct cct_node *next = cct_next(root, at);
        if (!next)
            break;
        for (; cct_parent(next) != at; at = cct_parent(at))
            place = cct_parent(place);
        at = next;
        place = cct_child(to, place, numbers[at->item]);
        rc = place ? 0 : -ENOMEM;
    }
    free(numbers);
    return rc;
}

/* All calls of a trace, as a tree of functions. */
static int count_trace(struct trace *trace, struct named_tree *out, struct tree_names *names)
{
    struct hcct *h = hcct_new(&(struct hcct_options){.kind = HCCT_EXACT, .metrics = 1});
    int rc = h ? 0 : -ENOMEM;
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i] != TRACE_RETURN)
            trace->events[i] = trace->places[trace->events[i] & ~TRACE_RESUMED].function |
                               (trace->events[i] & TRACE_RESUMED);
    for (size_t i = 0; rc == 0 && i < trace->thread_count; i++) {
        const struct trace_thread *t = &trace->threads[i];
        size_t done;
        hcct_rewind(h);
        rc = hcct_feed(h, trace->events + t->first, NULL, t->end - t->first, &done);
    }
    struct cct *all = rc == 0 ? hcct_query(h, 1e-300) : NULL;
    hcct_free(h);
    rc = all ? add_named(out->tree, all, trace->functions, trace->function_count, names) : -ENOMEM;
    cct_free(all);
    out->unit = rc == 0 ? strdup("calls") : NULL;
    return rc == 0 && out->unit ? 0 : -ENOMEM;
}

int named_tree_load(const char *path, struct tree_names *names, struct named_tree *out,
                    struct fathom_error *err)
{
    struct saved_tree saved;
    struct trace trace;
    out->tree = cct_new(1);
    if (!out->tree)
        return error_memory(err);
    int rc = saved_tree_read(path, &saved, err);
    if (rc == 0) {
        rc = add_named(out->tree, saved.tree, saved.functions, saved.function_count, names);
        out->bound = saved.bound;
        out->unit = strdup(saved.unit);
        saved_tree_free(&saved);
        return rc == 0 && out->unit ? 0 : error_memory(err);
    }
    if (rc != -ENOMSG)
        return rc;
    rc = trace_read(path, &trace, err);
    if (rc == -ENOMSG)
        return error_set(err, ENOMSG, "%s is neither a saved tree nor a call trace", path);
    if (rc < 0)
        return rc;
    rc = count_trace(&trace, out, names);
    trace_free(&trace);
    return rc < 0 ? error_memory(err) : 0;
}
