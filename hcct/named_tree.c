/* named_tree.c - see named_tree.h. */
#include "hcct/named_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

static const char *file_of(const struct trace_function *f)
{
    const char *slash = strrchr(f->image, '/');
    return slash ? slash + 1 : f->image;
}

/* "function (image)", or "image+0x123": the name of a function in all trees. NAMES_NONE: out of memory. */
static uint32_t name_of(struct tree_names *names, const struct trace_function *f)
{
    const char *image = file_of(f);
    char *text, *label; /* trees use `label` for a function without a name */
    if (asprintf(&label, "%s+0x%" PRIx64, image, f->address) < 0)
        return NAMES_NONE;
    bool named = f->name[0] && strcmp(f->name, label) != 0;
    if (named && asprintf(&text, "%s (%s)", f->name, image) < 0) {
        free(label);
        return NAMES_NONE;
    }
    uint32_t known = names_count(names->names), number = names_intern(names->names, named ? text : label);
    free(label);
    if (named)
        free(text);
    if (number != known) /* (or memory ran out) */
        return number;
    if (!vec_reserve(names->functions, number, names->capacity, 1))
        return NAMES_NONE;
    struct trace_function *own = &names->functions[number];
    *own = (struct trace_function){arena_strdup(names->texts, f->image), arena_strdup(names->texts, f->name),
                                   f->address};
    return own->image && own->name ? number : NAMES_NONE;
}

/* Adds a tree to a named one. functions: those of its items. */
static int add_named(struct cct *to, struct cct *from, const struct trace_function *functions, size_t count,
                     struct tree_names *names)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    int rc = numbers ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = (numbers[i] = name_of(names, &functions[i])) == NAMES_NONE ? -ENOMEM : 0;
    if (rc == 0)
        rc = cct_graft(to, cct_root(to), cct_root(from), numbers);
    free(numbers);
    return rc;
}

/* Sums up all calls of a trace, as a tree of functions. */
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
    out->traced = true;
    trace_free(&trace);
    return rc < 0 ? error_memory(err) : 0;
}

/* By number of a function: whether the tree has a frame of its file. NULL: out of memory. */
static bool *find_files(struct named_tree *of, const struct tree_names *names)
{
    uint32_t count = names_count(names->names);
    bool *found = calloc(count + 1ul, sizeof *found);
    struct names *files = names_new();
    struct cct_node *root = cct_root(of->tree);
    bool fine = found && files;
    for (struct cct_node *n = root; fine && (n = cct_next(root, n));)
        fine = names_intern(files, file_of(&names->functions[n->item])) != NAMES_NONE;
    uint32_t known = fine ? names_count(files) : 0;
    for (uint32_t i = 0; fine && i < count; i++) {
        uint32_t file = names_intern(files, file_of(&names->functions[i]));
        fine = file != NAMES_NONE;
        found[i] = file < known;
    }
    names_free(files);
    if (fine)
        return found;
    free(found);
    return NULL;
}

int named_tree_limit(struct named_tree *tree, struct named_tree *of, const struct tree_names *names)
{
    bool *with_file = find_files(of, names);
    struct cct *to = cct_new(1);
    struct cct_node *root = cct_root(tree->tree), *at = root, *place = to ? cct_root(to) : NULL;
    while (with_file && place) {
        cct_weigh(to, place, at->self);
        struct cct_node *next = cct_next(root, at);
        if (!next)
            break;
        for (; cct_parent(next) != at; at = cct_parent(at))
            place = with_file[at->item] ? cct_parent(place) : place;
        at = next;
        place = with_file[at->item] ? cct_child(to, place, at->item) : place;
    }
    bool fine = with_file && place;
    free(with_file);
    cct_free(fine ? tree->tree : to);
    tree->tree = fine ? to : tree->tree;
    return fine ? 0 : -ENOMEM;
}
