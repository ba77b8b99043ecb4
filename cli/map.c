/* map.c - `fathom map info|paths|merge|recover`: shows what path maps contain, merges several, and recovers
 * those of killed trainings. (`map cache` is in map_cache.c.) */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/map.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "image/name.h"
#include "infer/model/trained.h"
#include "pathmap/map/pathmap.h"

/* A map's CIDs by how many function paths share them. */
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

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How much of their samples parts of the training predict of each other. */
static void print_trials(const struct pathmap *map)
{
    const struct trial *trials;
    uint32_t count = pathmap_trials(map, &trials);
    if (count)
        printf("  predicted       %u %s, each by the others:", count,
               trained_of(map).by == TRAINED_BY_INPUTS ? "inputs" : "slices of one input's time");
    else
        printf("  predicted       not known");
    for (uint32_t i = 0; i < count; i++)
        printf(" %.1f%%", percent(trials[i].right, trials[i].samples));
    putchar('\n');
}

static int map_info(const char *path, struct fathom_error *err)
{
    struct pathmap *map;
    int rc = pathmap_open(path, &map, err);
    if (rc < 0)
        return rc;
    struct trie_statistics s = pathmap_statistics(map);
    struct ambiguity a = count_ambiguity(map);
    terminal_print(path);
    putchar('\n');
    printf("  contexts        %u (%u function paths, %u functions)\n", pathmap_node_count(map),
           pathmap_path_count(map), pathmap_function_count(map));
    printf("  CIDs            %llu, %.1f%% precise\n", (unsigned long long)a.cids,
           percent(a.precise, a.cids));
    printf("  %-14s  %llu, %.1f%% of them with a precise CID\n", a.sampled ? "samples" : "calls",
           (unsigned long long)a.weight, percent(a.precise_weight, a.weight));
    printf("  calls, stacks   %llu\n", (unsigned long long)s.paths_entered);
    printf("  stacks cut      %llu\n", (unsigned long long)s.paths_cut);
    printf("  not unwound     %llu\n", (unsigned long long)s.paths_failed);
    print_trials(map);
    printf("  images          %u\n", pathmap_image_count(map));
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        char id[2 * BUILD_ID_MAX + 1];
        build_id_format(&image.build_id, id);
        printf("    %-40s  ", id[0] ? id : "(no build-id)");
        terminal_print(image.path);
        puts(image.hooked ? "  (every call)" : "");
    }
    pathmap_close(map);
    return 0;
}

/* Prints a function's name from the map. */
static void print_function(const struct pathmap *map, uint32_t function)
{
    struct pathmap_function f = pathmap_function(map, function);
    char name[1024];
    name_format(pathmap_image(map, f.image).path, f.name, f.address, name, sizeof name);
    terminal_print(name);
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
    const struct pathmap *map;
    uint32_t rows; /* at most */
    bool hooked;   /* only frames of images with hooks */
    uint32_t *order, *path;
    size_t room; /* of path */
};

static bool is_listed(const struct listing *l, uint32_t function)
{
    return !l->hooked || pathmap_image(l->map, pathmap_function(l->map, function).image).entered;
}

static int print_path(struct listing *l, uint32_t number, struct fathom_error *err)
{
    struct pathmap_node node = pathmap_node(l->map, number);
    int depth = pathmap_read_path(l->map, number, &l->path, &l->room, err);
    if (depth < 0)
        return depth;
    printf("%10llu %10llu %8u  ", (unsigned long long)node.self, (unsigned long long)node.passes,
           node.height);
    const char *separator = "";
    for (int f = 0; f < depth; f++) {
        if (!is_listed(l, l->path[f]))
            continue;
        fputs(separator, stdout);
        print_function(l->map, l->path[f]);
        separator = ";";
    }
    putchar('\n');
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

static int map_paths(const char *path, uint32_t rows, bool hooked, struct fathom_error *err)
{
    struct pathmap *map;
    int rc = pathmap_open(path, &map, err);
    if (rc < 0)
        return rc;
    struct listing listing = {.map = map, .rows = rows, .hooked = hooked && any_entered(map)};
    printf("%10s %10s %8s  path\n", "self", "passes", "height");
    rc = print_paths(&listing, err);
    pathmap_close(map);
    return rc;
}

/* Whether any image of the map is hooked. */
static bool has_hooked(const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        if (pathmap_image(map, i).hooked)
            return true;
    }
    return false;
}

/* Adds the maps that have, or that lack, hooked images; those that have them must be added first (trie.h). */
static int add_maps(struct trie *trie, char **paths, int count, bool hooked, const struct progress *progress,
                    struct fathom_error *err)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        struct pathmap *map;
        progress_show(progress, hooked ? "merging hooked maps" : "merging maps", (uint64_t)i,
                      (uint64_t)count);
        rc = pathmap_open(paths[i], &map, err);
        if (rc < 0)
            break;
        if (has_hooked(map) == hooked)
            rc = trials_merge(trie, map, err);
        pathmap_close(map);
    }
    return rc;
}

static int map_merge(const char *output, char **paths, int count, struct terminal *terminal,
                     struct fathom_error *err)
{
    struct outfile *out = NULL;
    int rc = output_open(output, &out, err);
    if (rc < 0)
        return rc;
    struct trie *trie = trie_new();
    rc = trie ? add_maps(trie, paths, count, true, &terminal->progress, err) : error_memory(err);
    if (rc == 0)
        rc = add_maps(trie, paths, count, false, &terminal->progress, err);
    if (rc == 0)
        rc = trie_write(trie, out, err);
    if (rc == 0)
        terminal_say(terminal, LOG_NOTE, "%d maps, %u contexts in %s", count, trie_node_count(trie) - 1,
                     outfile_path(out));
    trie_free(trie);
    outfile_close(out);
    return rc;
}

struct map_options {
    const char *output;
    uint64_t rows;
    bool hooked;
};

static int map_cache_run(char **words, int count, struct terminal *terminal)
{
    struct fathom_error err = {0};
    if (count != 1)
        return option_usage(terminal, &map_command,
                            "'cache' is followed by exactly one of: list, clear, path");
    int rc = map_cache_command(words[0], &err);
    if (rc == -EINVAL)
        return option_usage(terminal, &map_command, "%s", err.text);
    if (rc < 0)
        terminal_error(terminal, &err);
    return rc < 0 ? exit_code_of(&err) : EXIT_OK;
}

static int map_run(int argc, char **argv, struct terminal *terminal)
{
    struct map_options options = {.rows = UINT32_MAX};
    int code = options_parse(&map_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    const char *verb = optind < argc ? argv[optind++] : "";
    char **maps = argv + optind;
    int count = argc - optind;
    bool merge = strcmp(verb, "merge") == 0, recover = strcmp(verb, "recover") == 0;
    if (strcmp(verb, "cache") == 0)
        return map_cache_run(maps, count, terminal);
    if (!merge && !recover && strcmp(verb, "info") != 0 && strcmp(verb, "paths") != 0)
        return option_usage(terminal, &map_command, "give one of: info, paths, merge, recover, cache");
    if (recover && count != 1)
        return option_usage(terminal, &map_command,
                            "'recover' needs exactly one directory of 'fathom train'");
    if (count < 1)
        return option_usage(terminal, &map_command, "'%s' needs a map file", verb);
    if (merge && !options.output)
        return option_usage(terminal, &map_command, "'merge' needs --output");

    struct fathom_error err = {0};
    int rc = 0;
    if (!merge && !recover)
        privilege_only_read(terminal);
    if (merge)
        rc = map_merge(options.output, maps, count, terminal, &err);
    if (recover)
        rc = fathom_map_recover(maps[0], options.output, &terminal->listener, &err);
    for (int i = 0; !merge && !recover && rc == 0 && i < count; i++)
        rc = strcmp(verb, "info") == 0 ? map_info(maps[i], &err)
                                       : map_paths(maps[i], (uint32_t)options.rows, options.hooked, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    return rc < 0 ? exit_code_of(&err) : EXIT_OK;
}

static const struct option_row rows[] = {
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct map_options, rows, "only the first N paths"),
    OPTION_FLAG("hooked", 0, struct map_options, hooked, "omit the frames of images that have no hooks"),
    OPTION_TEXT("output", 'o', "OUT", struct map_options, output,
                "the merged map, '-' for standard output; for recover the default is the file that the "
                "training would have written"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command map_command = {
    .name = "map",
    .summary = "inspect, merge and recover path maps, and manage those that are kept",
    .synopsis = "info MAP...\n"
                "paths [-n N] [--hooked] MAP...\n"
                "merge -o OUT MAP...\n"
                "recover [-o OUT] DIR\n"
                "cache list|clear|path",
    .about = "info prints a map's images and counts and how many of its CIDs are precise; paths lists its "
             "call paths, the most sampled first; merge adds up the maps of several runs; recover makes the "
             "map of a training that was killed, from the directory (fathom-train.* in TMPDIR or /tmp) that "
             "it left behind; cache lists the maps that recordings keep of their programs, removes them, or "
             "prints their directory.",
    .options = rows,
    .paged = true,
    .run = map_run,
};
