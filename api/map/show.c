/* show.c - prints what a path map contains; see fathom/map.h. */
#include <stdlib.h>

#include "api/fathom/map.h"
#include "infer/model/trained.h"
#include "pathmap/map/partial.h"
#include "pathmap/map/pathmap.h"
#include "report/text/printer.h"

/* How many of a map's CIDs have only one function path. */
struct ambiguity {
    uint64_t cids, precise;
    bool sampled;
    uint64_t weight, precise_weight; /* samples, or calls if none were taken */
};

static struct ambiguity count_ambiguity(const struct pathmap *map)
{
    struct ambiguity a = {.sampled = pathmap_sampled(map)};
    uint32_t nodes = pathmap_node_count(map);
    for (uint32_t i = 0; i < nodes;) {
        struct pathmap_node first = pathmap_node(map, i), node = first;
        uint64_t weight = 0;
        bool one_path = true;
        for (; i < nodes; i++) {
            node = pathmap_node(map, i);
            if (node.function != first.function || node.height != first.height)
                break;
            weight += a.sampled ? node.self : node.passes;
            one_path &= node.path == first.path;
        }
        a.cids++;
        a.weight += weight;
        if (one_path) {
            a.precise++;
            a.precise_weight += weight;
        }
    }
    return a;
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Prints how much of the samples of each part of the training the other parts predict. */
static void print_trials(struct printer *p, const struct pathmap *map)
{
    const struct trial *trials;
    uint32_t count = pathmap_trials(map, &trials);
    if (count)
        printer_write(p, "  predicted       %u %s, each by the others:", count,
                      trained_of(map).by == TRAINED_BY_INPUTS ? "inputs" : "slices of one input's time");
    else
        printer_write(p, "  predicted       not known");
    for (uint32_t i = 0; i < count; i++)
        printer_write(p, " %.1f%%", percent_of(trials[i].right, trials[i].samples));
    printer_write(p, "\n");
}

/* The number of contexts on partial paths. */
static uint32_t count_partial(const struct pathmap *map)
{
    const struct build_id none = {0};
    uint32_t count = 0;
    if (pathmap_find_image(map, PARTIAL_IMAGE, &none, NULL) == PATHMAP_NONE)
        return 0;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        uint32_t outermost = i;
        while (pathmap_node(map, outermost).parent != PATHMAP_NONE)
            outermost = pathmap_node(map, outermost).parent;
        count += outermost != i && pathmap_node(map, outermost).height == PARTIAL_HEIGHT;
    }
    return count;
}

int fathom_map_describe(const char *path, FILE *out, struct fathom_error *err)
{
    struct pathmap *map;
    struct printer printer = {.out = out}, *p = &printer;
    int rc = pathmap_open(path, &map, err);
    if (rc < 0)
        return rc;
    struct trie_statistics s = pathmap_statistics(map);
    struct ambiguity a = count_ambiguity(map);
    printer_foreign(p, path);
    printer_write(p, "\n");
    printer_write(p, "  contexts        %u (%u function paths, %u functions)\n", pathmap_node_count(map),
                  pathmap_path_count(map), pathmap_function_count(map));
    const uint32_t partial = count_partial(map);
    if (partial)
        printer_write(p, "  partial         %u contexts below a root that says why\n", partial);
    printer_write(p, "  CIDs            %llu, %.1f%% precise\n", (unsigned long long)a.cids,
                  percent_of(a.precise, a.cids));
    printer_write(p, "  %-14s  %llu, %.1f%% of them with a precise CID\n", a.sampled ? "samples" : "calls",
                  (unsigned long long)a.weight, percent_of(a.precise_weight, a.weight));
    printer_write(p, "  calls, stacks   %llu\n", (unsigned long long)s.paths_entered);
    printer_write(p, "  stacks cut      %llu\n", (unsigned long long)s.paths_cut);
    printer_write(p, "  not unwound     %llu\n", (unsigned long long)s.paths_failed);
    print_trials(p, map);
    printer_write(p, "  images          %u\n", pathmap_image_count(map) - (partial > 0));
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        char id[2 * BUILD_ID_MAX + 1];
        build_id_format(&image.build_id, id);
        if (partial_is_image(image.path))
            continue;
        printer_write(p, "    %-40s  ", id[0] ? id : "(no build-id)");
        printer_foreign(p, image.path);
        printer_write(p, "%s\n", image.hooked ? "  (every call)" : "");
    }
    pathmap_close(map);
    return 0;
}

static int by_self(const void *a, const void *b, void *context)
{
    const struct pathmap *map = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    struct pathmap_node x = pathmap_node(map, i), y = pathmap_node(map, j);
    if (x.self != y.self)
        return x.self < y.self ? 1 : -1;
    if (x.passes != y.passes)
        return x.passes < y.passes ? 1 : -1;
    return i < j ? -1 : i > j;
}

struct listing {
    struct printer printer;
    const struct pathmap *map;
    uint32_t rows; /* maximum number */
    bool hooked;   /* only frames of images with hooks */
    uint32_t *order, *path;
    size_t capacity; /* of path */
};

static bool is_listed(const struct listing *l, uint32_t function)
{
    return !l->hooked || pathmap_image(l->map, pathmap_function(l->map, function).image).entered;
}

static int print_path(struct listing *l, uint32_t number, struct fathom_error *err)
{
    struct pathmap_node node = pathmap_node(l->map, number);
    struct printer *p = &l->printer;
    int depth = pathmap_read_path(l->map, number, &l->path, &l->capacity, err);
    if (depth < 0)
        return depth;
    printer_write(p, "%10llu %10llu %8u  ", (unsigned long long)node.self, (unsigned long long)node.passes,
                  node.height);
    const char *separator = "";
    char name[1024];
    for (int f = 0; f < depth; f++) {
        if (!is_listed(l, l->path[f]))
            continue;
        printer_write(p, "%s", separator);
        printer_foreign(p, pathmap_function_name(l->map, l->path[f], name, sizeof name));
        separator = ";";
    }
    printer_write(p, "\n");
    return 0;
}

static int print_paths(struct listing *l, struct fathom_error *err)
{
    uint32_t nodes = pathmap_node_count(l->map), printed = 0;
    l->order = malloc((nodes + 1) * sizeof *l->order);
    int rc = l->order ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < nodes; i++)
        l->order[i] = i;
    if (rc == 0)
        qsort_r(l->order, nodes, sizeof *l->order, by_self, (void *)(uintptr_t)l->map);
    for (uint32_t i = 0; rc == 0 && i < nodes && printed < l->rows; i++) {
        if (!is_listed(l, pathmap_node(l->map, l->order[i]).function))
            continue;
        rc = print_path(l, l->order[i], err);
        printed++;
    }
    free(l->order);
    free(l->path);
    return rc;
}

static bool any_entered(const struct pathmap *map)
{
    bool any = false;
    for (uint32_t i = 0; i < pathmap_image_count(map); i++)
        any |= pathmap_image(map, i).entered;
    return any;
}

int fathom_map_list(const char *path, const struct fathom_map_listing *how, FILE *out,
                    struct fathom_error *err)
{
    struct pathmap *map;
    int rc = pathmap_open(path, &map, err);
    if (rc < 0)
        return rc;
    struct listing listing = {.printer = {.out = out},
                              .map = map,
                              .rows = how->rows ? how->rows : UINT32_MAX,
                              .hooked = how->hooked && any_entered(map)};
    printer_write(&listing.printer, "%10s %10s %8s  path\n", "self", "passes", "height");
    rc = print_paths(&listing, err);
    pathmap_close(map);
    return rc;
}
