/* model.c - see model.h. */
#include "tests/pathmap/model.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

uint64_t model_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

const char *model_image_path(uint32_t image)
{
    static const char *const paths[MODEL_IMAGES] = {"/usr/bin/program", "/usr/lib/libfirst.so.1",
                                                    "/tmp/no-build-id"};
    return paths[image];
}

struct build_id model_build_id(uint32_t image)
{
    struct build_id id = {.size = image == 2 ? 0 : 20};
    for (unsigned i = 0; i < id.size; i++)
        id.bytes[i] = (uint8_t)(image * 16 + i);
    return id;
}

static void model_add(struct model *model, const struct model_path *path)
{
    if (model->count == model->capacity) {
        model->capacity = model->capacity ? model->capacity * 2 : 256;
        model->paths = realloc(model->paths, model->capacity * sizeof *model->paths);
        cr_assert_not_null(model->paths);
    }
    model->paths[model->count++] = *path;
}

void model_grow(struct model *model, struct trie *trie, uint64_t seed, unsigned walks, bool backwards)
{
    uint32_t images[MODEL_IMAGES] = {0};
    for (uint32_t i = 0; trie && i < MODEL_IMAGES; i++) {
        uint32_t image = backwards ? MODEL_IMAGES - 1 - i : i;
        struct build_id id = model_build_id(image);
        images[image] = trie_image(trie, model_image_path(image), &id);
        cr_assert_neq(images[image], TRIE_NONE);
    }
    for (unsigned w = 0; w < walks; w++) {
        struct model_path path = {0};
        uint32_t node = TRIE_ROOT, height = 0;
        uint32_t depth = 1 + (uint32_t)(model_random(&seed) % MODEL_DEPTH);
        for (uint32_t d = 0; d < depth; d++) {
            uint64_t r = model_random(&seed);
            if (d || r % 2)
                height += 8 + 8 * (r >> 8) % 24;
            struct model_frame frame = {(r >> 16) % MODEL_IMAGES, 0x1000 + 16 * ((r >> 24) % 4), height,
                                        d ? 0x1004 + (r >> 32) % 2 : 0};
            path.frames[d] = frame;
            path.depth = d + 1;
            path.passes = 1;
            path.self = d + 1 == depth ? r % 5 : 0;
            model_add(model, &path);
            if (trie) {
                char name[32];
                snprintf(name, sizeof name, "f%x", frame.address);
                uint32_t f = trie_function(trie, images[frame.image], frame.address, name);
                node = trie_child(trie, node, f, frame.height, frame.site);
                cr_assert_neq(node, TRIE_NONE);
                trie_add(trie, node, path.passes, path.self);
                cr_assert(!path.self || trie_add_pc(trie, node, r % 50, path.self));
            }
        }
    }
}

struct model_path model_path_of(const struct pathmap *map, uint32_t node)
{
    struct model_path path = {.passes = pathmap_node(map, node).passes, .self = pathmap_node(map, node).self};
    for (uint32_t at = node; at != PATHMAP_NONE; at = pathmap_node(map, at).parent)
        path.depth++;
    cr_assert_leq(path.depth, MODEL_DEPTH);
    uint32_t d = path.depth;
    for (uint32_t at = node; d;) {
        struct pathmap_node n = pathmap_node(map, at);
        struct pathmap_function function = pathmap_function(map, n.function);
        uint32_t image = 0;
        while (image < MODEL_IMAGES &&
               strcmp(pathmap_image(map, function.image).path, model_image_path(image)) != 0)
            image++;
        path.frames[--d] =
            (struct model_frame){image, (uint32_t)function.address, n.height, (uint32_t)n.site};
        at = n.parent;
    }
    return path;
}

void model_read(struct model *model, const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct model_path path = model_path_of(map, i);
        model_add(model, &path);
    }
}

static int compare_paths(const void *a, const void *b)
{
    const struct model_path *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return memcmp(x->frames, y->frames, sizeof x->frames);
}

void model_settle(struct model *model)
{
    if (!model->count)
        return;
    qsort(model->paths, model->count, sizeof *model->paths, compare_paths);
    size_t kept = 0;
    for (size_t i = 1; i < model->count; i++) {
        struct model_path *last = &model->paths[kept], *path = &model->paths[i];
        if (compare_paths(last, path) == 0) {
            last->passes += path->passes;
            last->self += path->self;
        } else {
            model->paths[++kept] = *path;
        }
    }
    model->count = kept + 1;
}

bool model_equal(const struct model *a, const struct model *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct model_path *x = &a->paths[i], *y = &b->paths[i];
        if (compare_paths(x, y) != 0 || x->passes != y->passes || x->self != y->self)
            return false;
    }
    return true;
}

void model_free(struct model *model)
{
    free(model->paths);
    *model = (struct model){0};
}

struct pathmap *model_map(const struct trie *trie)
{
    struct fathom_error err = {0};
    void *data;
    size_t size;
    struct pathmap *map;
    cr_assert_eq(trie_serialise(trie, &data, &size, &err), 0, "%s", err.text);
    cr_assert_eq(pathmap_open_memory(data, size, &map, &err), 0, "%s", err.text);
    return map;
}
