/* Calls that the binaries of this very process show. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "infer/statics/statics.h"
#include "tests/image/build.h"

#ifdef __clang__
#define APART __attribute__((noinline, optnone))
#else
#define APART __attribute__((noipa))
#endif

/* Calls the library by its name, and goes on. */
APART static long asks(struct timeval *now)
{
    long rc = gettimeofday(now, NULL);
    __asm__ volatile("");
    return rc + now->tv_usec;
}

/* Opens what is mapped executable here: this program, its libraries, the vDSO. */
static void open_all(struct image_cache *images)
{
    char line[4096], path[4096];
    struct image *image;
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, " r-xp ") && sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", path) == 1)
            image_cache_get(images, path, NULL, &image, NULL);
    fclose(maps);
}

/* The number of the function at this place of an image whose path ends so; TRIE_NONE: no such image. */
static uint32_t number_at(struct trie *trie, const struct image_cache *images, const char *end,
                          const char *name)
{
    const struct image *image;
    for (size_t i = 0; (image = image_cache_at(images, i)); i++) {
        const char *path = image_path(image);
        if (strlen(path) < strlen(end) || strcmp(path + strlen(path) - strlen(end), end) != 0)
            continue;
        for (uint32_t f = 0; f < image_function_count(image); f++) {
            const struct image_function *function = image_function(image, f);
            if (function->name && strcmp(function->name, name) == 0)
                return trie_function(trie, trie_image(trie, path, image_build_id(image)), function->address,
                                     function->name);
        }
    }
    return TRIE_NONE;
}

static unsigned calls_between(const struct statics *statics, uint32_t caller, uint32_t callee)
{
    unsigned count = 0;
    for (size_t i = 0; i < statics->count; i++)
        count += statics->edges[i].caller == caller && statics->edges[i].callee == callee &&
                 statics->edges[i].rise >= 8;
    return count;
}

/* Through the PLT, the library's IFUNC, and the resolver's look-up: no instruction tells of this call. */
Test(statics, what_an_ifunc_chooses_in_the_vdso_has_its_caller)
{
    struct timeval now;
    struct statics statics;
    struct image_cache *images = image_cache_new(NULL);
    struct image_calls *image_calls = image_calls_new();
    struct trie *trie = trie_new();
    cr_assert(images && trie && asks(&now) >= 0);
    open_all(images);
    uint32_t caller = number_at(trie, images, "test_statics", "asks");
    uint32_t callee = number_at(trie, images, VDSO_NAME, "__vdso_gettimeofday");
    if (callee == TRIE_NONE)
        callee = number_at(trie, images, VDSO_NAME, "gettimeofday");
    cr_assert(caller != TRIE_NONE && callee != TRIE_NONE);
    cr_assert_eq(statics_build(trie, images, image_calls, NULL, NULL, NULL, &statics, NULL), 0);
    cr_expect_eq(calls_between(&statics, caller, callee), 1u);
    statics_free(&statics);
    trie_free(trie);
    image_calls_free(image_calls);
    image_cache_free(images);
}

/* The vDSO is no library: a function of its name that nobody chooses there is not called through the PLT. */
Test(statics, the_loader_does_not_look_in_the_vdso)
{
    struct statics statics;
    struct image_cache *images = image_cache_new(NULL);
    struct image_calls *image_calls = image_calls_new();
    struct trie *trie = trie_new();
    struct image *image;
    cr_assert(images && trie);
    cr_assert_eq(image_cache_get(images, "/proc/self/exe", NULL, &image, NULL), 0);
    cr_assert_eq(image_cache_get(images, VDSO_NAME, NULL, &image, NULL), 0);
    uint32_t callee = number_at(trie, images, VDSO_NAME, "__vdso_gettimeofday");
    uint32_t other = number_at(trie, images, VDSO_NAME, "gettimeofday");
    uint32_t caller = number_at(trie, images, "/proc/self/exe", "asks");
    cr_assert_neq(caller, TRIE_NONE);
    cr_assert_eq(statics_build(trie, images, image_calls, NULL, NULL, NULL, &statics, NULL), 0);
    cr_expect_eq(calls_between(&statics, caller, callee), 0u, "the library is not among the images");
    cr_expect_eq(calls_between(&statics, caller, other), 0u);
    statics_free(&statics);
    trie_free(trie);
    image_calls_free(image_calls);
    image_cache_free(images);
}

/* As a damaged file has them: a function that all others call, and that jumps to each of them. */
static void build_hub(unsigned others)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    fputs(".text\n.globl hub\n.type hub, @function\nhub: test %edi, %edi\n", out);
    for (unsigned i = 0; i < others; i++)
        fprintf(out, " je other%u\n", i);
    fputs(" ret\n.size hub, .-hub\n", out);
    for (unsigned i = 0; i < others; i++)
        fprintf(out,
                ".type other%u, @function\nother%u: .cfi_startproc\n call hub\n ret\n .cfi_endproc\n"
                ".size other%u, .-other%u\n",
                i, i, i, i);
    fclose(out);
    build_source("hub.s", text);
    free(text);
    build_run("$CC -nostdlib -Wl,-e,hub -o hub hub.s");
}

Test(statics, jumps_from_what_is_called_are_bounded_by_the_code, .fini = build_clean)
{
    enum { OTHERS = 300, EACH = 20 };
    struct statics statics;
    struct image_cache *images = image_cache_new(NULL);
    struct image_calls *image_calls = image_calls_new();
    struct trie *trie = trie_new();
    struct image *image;
    unsigned calls = 0;
    build_hub(OTHERS);
    cr_assert(images && image_calls && trie);
    cr_assert_eq(image_cache_get(images, build_path("hub"), NULL, &image, NULL), 0);
    cr_assert_eq(statics_build(trie, images, image_calls, NULL, NULL, NULL, &statics, NULL), 0);
    const uint32_t hub = number_at(trie, images, "hub", "hub");
    for (size_t i = 0; i < statics.count; i++)
        calls += statics.edges[i].callee == hub && !statics.edges[i].through;
    cr_expect_eq(calls, OTHERS + 1, "and its start");
    cr_expect_lt(statics.count, (size_t)EACH * 2 * OTHERS);
    cr_expect_gt(statics.count, (size_t)2 * OTHERS);
    statics_free(&statics);
    trie_free(trie);
    image_calls_free(image_calls);
    image_cache_free(images);
}

/* What a round may cost decides for that round; but what the reading, the first, asked for remains. */
Test(statics, each_round_decides_which_code_is_read)
{
    struct image_cache *images = image_cache_new(NULL);
    struct image_calls *calls = image_calls_new();
    const struct calls *of, *again;
    open_all(images);
    const struct image *read = image_cache_at(images, 0), *other = image_cache_at(images, 1);
    cr_assert(other);
    uint64_t cost = IMAGE_CALLS_STEPS * image_code_size(other);
    cr_assert_eq(image_calls_of(calls, read, &of), 0);
    cr_expect(of);

    image_calls_next_round(calls);
    image_calls_allow(calls, cost - 1);
    cr_assert_eq(image_calls_of(calls, other, &again), 0);
    cr_expect_null(again);
    image_calls_allow(calls, cost);
    cr_assert_eq(image_calls_of(calls, other, &again), 0);
    cr_expect_null(again, "for all who ask in one round");
    cr_assert_eq(image_calls_of(calls, read, &again), 0);
    cr_expect_eq(again, of);

    image_calls_next_round(calls);
    cr_assert_eq(image_calls_of(calls, other, &of), 0);
    cr_expect(of);
    cr_expect_eq(image_calls_allow(calls, cost), 0, "it was paid for");
    image_calls_next_round(calls);
    cr_assert_eq(image_calls_of(calls, other, &again), 0);
    cr_expect_eq(again, of);
    cr_expect_eq(image_calls_allow(calls, 0), 0, "and in each round anew");
    image_calls_free(calls);
    image_cache_free(images);
}
