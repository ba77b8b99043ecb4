/* differing.c - the functions that tell the paths of a CID apart; see ambiguity.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "disambig/ambiguity/ambiguity.h"

/* How often a function occurs on the paths. */
struct tally {
    struct ambiguity_function of;
    uint32_t paths;   /* number of paths with it */
    uint32_t current; /* 1 + the last one of these, */
    uint32_t times;   /* and how often it is on that one */
};

struct differing {
    struct table *known; /* function -> its tally */
    struct tally *tallies;
    uint32_t count, capacity;
};

static void settle_tally(struct tally *t)
{
    t->of.least = !t->paths || t->times < t->of.least ? t->times : t->of.least;
    t->of.greatest = t->times > t->of.greatest ? t->times : t->of.greatest;
    t->paths++;
}

static bool add_path(struct differing *d, const uint32_t *functions, uint32_t depth, uint32_t path)
{
    for (uint32_t i = 0; i < depth; i++) {
        size_t number = table_index(d->known, functions[i], d->tallies, d->count, d->capacity,
                                    (struct tally){.of.function = functions[i]});
        if (number == SIZE_MAX)
            return false;
        struct tally *t = &d->tallies[number];
        if (t->current != path + 1) {
            if (t->current)
                settle_tally(t);
            t->current = path + 1;
            t->times = 0;
        }
        t->times++;
    }
    return true;
}

static int by_difference(const void *a, const void *b)
{
    const struct ambiguity_function *x = a, *y = b;
    uint32_t of_x = x->greatest - x->least, of_y = y->greatest - y->least;
    return order_of(of_y, of_x) ?: order_of(x->function, y->function);
}

static int add_paths(struct differing *d, const struct pathmap *map, const struct ambiguous_cid *cid,
                     uint32_t *paths, struct fathom_error *err)
{
    uint32_t *functions = NULL, last = PATHMAP_NONE;
    size_t capacity = 0;
    int rc = 0;
    *paths = 0;
    for (uint32_t i = 0; rc >= 0 && i < cid->count; i++) {
        struct pathmap_node node = pathmap_node(map, cid->first + i);
        if (*paths && node.path == last)
            continue;
        last = node.path;
        rc = pathmap_read_path(map, cid->first + i, &functions, &capacity, err);
        if (rc > 0 && !add_path(d, functions, (uint32_t)rc - 1, (*paths)++))
            rc = error_memory(err);
    }
    free(functions);
    return rc < 0 ? rc : 0;
}

int ambiguity_functions(const struct pathmap *map, const struct ambiguous_cid *cid,
                        struct ambiguity_function **out, uint32_t *count, struct fathom_error *err)
{
    struct differing d = {.known = table_new()};
    uint32_t paths, differ = 0;
    int rc = d.known ? add_paths(&d, map, cid, &paths, err) : error_memory(err);
    struct ambiguity_function *list = rc == 0 ? malloc((d.count + 1ul) * sizeof *list) : NULL;
    if (rc == 0 && !list)
        rc = error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < d.count; i++) {
        struct tally *t = &d.tallies[i];
        settle_tally(t);
        if (t->paths < paths)
            t->of.least = 0;
        if (t->of.least != t->of.greatest)
            list[differ++] = t->of;
    }
    table_free(d.known);
    free(d.tallies);
    if (rc < 0)
        return rc;
    sort_with(list, differ, by_difference);
    *out = list;
    *count = differ;
    return 0;
}
