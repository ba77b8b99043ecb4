/* world.c - see world.h. */
#include "tests/infer/world.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

#define FUN(n)                                                                                               \
    APART static void fun##n(void)                                                                           \
    {                                                                                                        \
        sink = n;                                                                                            \
    }
FUN(0)
FUN(1)
FUN(2)
FUN(3)
FUN(4)
FUN(5)
FUN(6)
FUN(7)

uint64_t fun(unsigned number)
{
    static void (*const all[FUNS])(void) = {fun0, fun1, fun2, fun3, fun4, fun5, fun6, fun7};
    return (uintptr_t)all[number];
}

static void count_warning(void *context, enum log_level level, const char *text)
{
    (void)text;
    *(int *)context += level == LOG_WARNING;
}

struct world *world_open(void)
{
    struct world *w = calloc(1, sizeof *w);
    w->self = self_open();
    w->log = (struct log){count_warning, &w->warnings};
    w->trie = trie_new();
    cr_assert(w->trie);
    return w;
}

void world_close(struct world *w)
{
    resolver_free(w->resolver);
    pathmap_close(w->map);
    trie_free(w->trie);
    self_close(&w->self);
    free(w);
}

static struct place place_of(struct world *w, unsigned number)
{
    struct place place;
    cr_assert(process_place(w->self.process, fun(number), &place));
    cr_assert_neq(place.function, IMAGE_NO_FUNCTION);
    return place;
}

struct image *world_image(struct world *w)
{
    return place_of(w, 0).image;
}

uint32_t world_child(struct world *w, uint32_t parent, unsigned number, uint32_t height, uint64_t site,
                     uint64_t passes, uint64_t self)
{
    struct place place = place_of(w, number);
    uint32_t image = trie_image(w->trie, image_path(place.image), image_build_id(place.image));
    const struct image_function *function = image_function(place.image, place.function);
    uint32_t child = trie_child(
        w->trie, parent, trie_function(w->trie, image, function->address, function->name), height, site);
    cr_assert_neq(child, TRIE_NONE);
    trie_add(w->trie, child, passes, self);
    return child;
}

void world_finish(struct world *w)
{
    struct fathom_error err = {0};
    cr_assert_eq(pathmap_over(w->trie, &w->map, &err), 0, "%s", err.text);
    w->resolver = resolver_new(w->map, NULL);
    cr_assert(w->resolver);
}

struct sample world_sample(unsigned number, uint64_t base, uint32_t height)
{
    return self_sample(fun(number), base - height - 8, 0);
}

int world_resolve(struct world *w, const struct process *process, const struct sample *sample,
                  struct resolved *out, struct fathom_error *err)
{
    const struct cid cid = cid_of_sample(process, sample);
    return resolver_resolve(w->resolver, &cid, SETTING_ANY, out, err);
}

const char *world_path(const struct world *w, uint32_t node)
{
    static char text[4096];
    uint32_t functions[256];
    int depth = pathmap_path(w->map, node, functions, 256);
    cr_assert_geq(depth, 0);
    cr_assert_leq(depth, 256);
    text[0] = 0;
    for (int i = 0; i < depth; i++) {
        const char *name = pathmap_function(w->map, functions[i]).name;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", name ? name : "?");
    }
    return text;
}
