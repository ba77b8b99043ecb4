/*
 * bench_heights.c - how much of a map any frame sizes could make precise, by counting: "bench_heights MAP TIMES PROGRAM".
 *
 * A function's paths can be precise only at heights of their own. Frames are multiples of 16 bytes, and so are the differences
 * between heights: there are as many as there are multiples of 16 between the function's least height and TIMES the
 * greatest one of the map. The bound is the weight of so many of its heaviest paths, less one height for the rest, if there
 * is any. It asks neither whether frames exist that give these heights, nor which frames can grow. Another one asks only the
 * latter: what is precise if the frames of PROGRAM that can grow do so, by any number of bytes (disambig/ambiguity). And one
 * figure is no bound: how much would be precise if each path of a function had one of its heights by chance, as frame sizes
 * place all paths at once, and not those with weight alone.
 *
 * One line for each figure: name, value, unit, limit, further ones, separated by tabs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "disambig/ambiguity/ambiguity.h"
#include "disambig/map_frames.h"

struct tally {
    double weight, precise, by_chance, paths_by_chance;
    unsigned long long paths, precise_paths, crowded; /* crowded: functions with more paths than heights */
};

struct path {
    uint32_t number;
    uint64_t weight;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_heights: %s\n", what);
    exit(1);
}

static int by_number(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_weight(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* Nodes of one path become one. Returns how many there are. */
static uint32_t join_paths(struct path *paths, uint32_t count)
{
    uint32_t joined = 0;
    qsort(paths, count, sizeof *paths, by_number);
    for (uint32_t i = 0; i < count; i++) {
        if (joined && paths[joined - 1].number == paths[i].number)
            paths[joined - 1].weight += paths[i].weight;
        else
            paths[joined++] = paths[i];
    }
    return joined;
}

static void count_function(const struct pathmap *map, uint32_t function, uint64_t highest, bool sampled,
                           struct tally *tally)
{
    uint32_t first, count = pathmap_function_nodes(map, function, &first);
    if (!count)
        return;
    struct path *paths = calloc(count, sizeof *paths);
    if (!paths)
        fail("out of memory");
    for (uint32_t i = 0; i < count; i++) {
        struct pathmap_node node = pathmap_node(map, first + i);
        paths[i] = (struct path){node.path, sampled ? node.self : node.passes};
    }
    uint64_t heights = (highest - pathmap_node(map, first).height) / 16 + 1;
    count = join_paths(paths, count);
    qsort(paths, count, sizeof *paths, by_weight);
    double alone = exp(-(double)(count - 1) / (double)heights);
    uint64_t room = count <= heights ? count : heights - 1;
    tally->crowded += count > heights;
    tally->paths += count;
    tally->precise_paths += room;
    tally->paths_by_chance += count * alone;
    for (uint32_t i = 0; i < count; i++) {
        tally->weight += (double)paths[i].weight;
        tally->precise += i < room ? (double)paths[i].weight : 0;
        tally->by_chance += (double)paths[i].weight * alone;
    }
    free(paths);
}

static void print_heights(const struct pathmap *map, double times)
{
    struct tally tally = {0};
    uint32_t longest = 0;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        uint32_t height = pathmap_node(map, i).height;
        longest = height > longest ? height : longest;
    }
    for (uint32_t f = 0; f < pathmap_function_count(map); f++)
        count_function(map, f, (uint64_t)(times * longest), pathmap_sampled(map), &tally);
    printf("weight that heights suffice for\t%.2f\t%%\t\t%llu functions have more paths than heights\n",
           tally.weight > 0 ? 100 * tally.precise / tally.weight : 100, tally.crowded);
    printf("weight alone at heights drawn by chance\t%.2f\t%%\t\tpaths %.2f%%\n",
           tally.weight > 0 ? 100 * tally.by_chance / tally.weight : 100,
           tally.paths ? 100 * tally.paths_by_chance / (double)tally.paths : 100);
    printf("paths that heights suffice for\t%.2f\t%%\t\tof %llu; longest stack %u bytes\n",
           tally.paths ? 100.0 * (double)tally.precise_paths / (double)tally.paths : 100, tally.paths,
           longest);
}

static void print_frames(const struct pathmap *map, const char *program)
{
    struct fathom_error err;
    struct image *image;
    struct growth *growth = NULL;
    struct map_frames frames;
    struct ambiguity a;
    if (image_open(program, NULL, &image, &err) < 0 || growth_new(image, &growth, &err) < 0)
        fail(err.text);
    struct map_frames_of of = {.map = map, .image = image, .growth = growth, .anew = true};
    of.number = pathmap_find_image(map, program, image_build_id(image), NULL);
    if (of.number == PATHMAP_NONE)
        fail("the map is not of this program");
    if (map_frames_make(&of, &frames, &err) < 0 ||
        ambiguity_measure(map, frames.most, frames.unshifted, &a, &err) < 0)
        fail(err.text);
    const struct ambiguity_share *most = &a.ceilings[AMBIGUITY_RESIZE];
    printf("weight that frames suffice for\t%.2f\t%%\t\tpaths %.2f%%\n",
           a.all.weight ? 100.0 * (double)most->weight / (double)a.all.weight : 100,
           a.all.paths ? 100.0 * (double)most->paths / (double)a.all.paths : 100);
    ambiguity_clear(&a);
    map_frames_clear(&frames);
    growth_free(growth);
    image_close(image);
}

int main(int argc, char **argv)
{
    struct fathom_error err;
    struct pathmap *map;
    double times = argc == 4 ? strtod(argv[2], NULL) : 0;
    if (!(times >= 1 && times <= 1000))
        fail("usage: bench_heights MAP TIMES PROGRAM");
    if (pathmap_open(argv[1], &map, &err) < 0)
        fail(err.text);
    print_heights(map, times);
    print_frames(map, argv[3]);
    pathmap_close(map);
    return 0;
}
