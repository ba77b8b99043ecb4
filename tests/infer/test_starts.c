/* Where stacks begin, in the programs that run this very test. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "image/cache.h"
#include "infer/samples/starts.h"
#include "tests/sanitized.h"

struct loaded {
    struct image_cache *images;
    struct image *image;
    struct calls *calls;
};

/* The first executable mapping of this process whose file's name contains the text. */
static void load(struct loaded *l, const char *name)
{
    char line[4096], path[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (!path[0] && fgets(line, sizeof line, maps))
        if (strstr(line, " r-xp ") && strchr(line, '/') && strstr(strrchr(line, '/'), name))
            sscanf(strchr(line, '/'), "%4095[^\n]", path);
    fclose(maps);
    cr_assert(path[0], "no %s in this process", name);
    l->images = image_cache_new(NULL);
    cr_assert_eq(image_cache_get(l->images, path, NULL, &l->image, NULL), 0);
    cr_assert_eq(calls_build(l->image, &l->calls, NULL), 0);
}

static void unload(struct loaded *l)
{
    calls_free(l->calls);
    image_cache_free(l->images);
}

Test(starts, a_program_begins_at_its_start_and_takes_main)
{
    struct loaded l;
    load(&l, "test_starts");
    uint32_t start = starts_program(l.image);
    cr_assert_neq(start, IMAGE_NO_FUNCTION);
    cr_expect_str_eq(image_function(l.image, start)->name, "_start");
    const struct call_site *sites[STARTS_MAX];
    uint32_t threads[STARTS_MAX];
    cr_expect_eq(starts_main_calls(l.image, l.calls, sites), 0u, "it only imports __libc_start_main");
    if (!ADDRESS_SANITIZED) /* which brings a pthread_create of its own */
        cr_expect_eq(starts_threads(l.image, l.calls, threads), 0u);
    unload(&l);
}

Test(starts, the_library_calls_main_and_begins_threads)
{
    struct loaded l;
    load(&l, "libc.so");
    cr_expect_eq(starts_program(l.image), IMAGE_NO_FUNCTION);
    const struct call_site *sites[STARTS_MAX];
    uint32_t threads[STARTS_MAX];
    size_t count = starts_main_calls(l.image, l.calls, sites);
    cr_assert_gt(count, 0u);
    for (size_t i = 0; i < count; i++)
        cr_expect(sites[i]->kind == CALL_INDIRECT && sites[i]->offset >= 8);
    cr_expect_gt(starts_threads(l.image, l.calls, threads), 0u);
    unload(&l);
}

Test(starts, the_loader_begins_with_a_function_that_it_hands_another)
{
    struct loaded l;
    load(&l, "ld-linux");
    uint32_t found[STARTS_MAX];
    size_t count = starts_loader(l.image, found);
    cr_assert_geq(count, 2u, "_dl_start and _dl_init");
    const struct call_site *sites[STARTS_MAX];
    const uint32_t *taken;
    cr_expect_geq(starts_handed_calls(l.image, l.calls, found[0], sites), 1u);
    cr_expect_geq(calls_taken_by(l.calls, found[0], &taken), 1u, "dl_main");
    cr_expect_eq(starts_program(l.image), IMAGE_NO_FUNCTION);
    unload(&l);
    load(&l, "libc.so");
    cr_expect_eq(starts_loader(l.image, found), 0u, "its entry prints a version");
    unload(&l);
}
