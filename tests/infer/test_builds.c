/* Whether a map is of the builds that a recording ran. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "infer/samples/builds.h"
#include "pathmap/map/trie.h"

static int warnings;

static void count_warning(void *context, enum log_level level, const char *text)
{
    (void)context;
    warnings += level == LOG_WARNING && strstr(text, "another build of /bin/") != NULL;
}

static const struct log log_of_test = {count_warning, NULL};

static struct build_id id_of(uint8_t number)
{
    return (struct build_id){.size = 20, .bytes = {number}};
}

/* A map of images with build-ids 1, 2, ... and one function each. */
static struct pathmap *map_of(size_t count, const char *const *paths)
{
    struct trie *trie = trie_new();
    struct pathmap *map = NULL;
    void *data;
    size_t size;
    for (size_t i = 0; i < count; i++) {
        struct build_id id = id_of((uint8_t)(i + 1));
        uint32_t image = trie_image(trie, paths[i], &id);
        trie_child(trie, TRIE_ROOT, trie_function(trie, image, 0x1000, "f"), 16, 0);
    }
    cr_assert_eq(trie_serialise(trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    trie_free(trie);
    return map;
}

struct noted {
    const char *path;
    uint8_t id;
};

static void expect(struct pathmap *map, size_t count, const struct noted *noted, bool stale, bool foreign,
                   int line)
{
    struct builds *builds = builds_new(map, &log_of_test);
    warnings = 0;
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < count; i++) {
            struct build_id id = id_of(noted[i].id);
            cr_assert_eq(builds_note(builds, noted[i].path, &id), 0);
        }
    cr_expect_eq(builds_stale(builds), stale, "line %d", line);
    cr_expect_eq(builds_foreign(builds), foreign, "line %d", line);
    cr_expect_eq(warnings, stale, "line %d: once", line);
    builds_free(builds);
}

#define EXPECT(map, stale, foreign, ...)                                                                     \
    expect(map, sizeof((struct noted[]){__VA_ARGS__}) / sizeof(struct noted), (struct noted[]){__VA_ARGS__}, \
           stale, foreign, __LINE__)

Test(builds, a_map_of_a_program)
{
    struct pathmap *map =
        map_of(3, (const char *const[]){"/bin/one", "/lib/libone.so.1", "/lib/x86_64-linux-gnu/libc.so.6"});
    EXPECT(map, false, false, {"/bin/one", 1}, {"/lib/x86_64-linux-gnu/libc.so.6", 3});
    EXPECT(map, true, false, {"/bin/one", 9}, {"/lib/x86_64-linux-gnu/libc.so.6", 3});
    EXPECT(map, false, true, {"/bin/two", 9}, {"/lib/x86_64-linux-gnu/libc.so.6", 3});
    EXPECT(map, false, true, {"/bin/two", 9}, {"/lib/libone.so.1", 2});
    EXPECT(map, false, true, {"/bin/two.sorted", 9}, {"/lib/libone.so.1", 2});
    EXPECT(map, false, false, {"/bin/two", 9}, {"/bin/one", 1});
    EXPECT(map, false, false, {"/tmp/moved", 1});
    EXPECT(map, false, false, {"[vdso]", 8}, {"//anon", 8});
    pathmap_close(map);
}

Test(builds, a_map_of_a_library)
{
    struct pathmap *map = map_of(1, (const char *const[]){"/lib/libone.so.1"});
    EXPECT(map, false, false, {"/bin/two", 9}, {"/lib/libone.so.1", 1}, {"/lib/libc.so.6", 7});
    EXPECT(map, false, true, {"/bin/two", 9}, {"/lib/libc.so.6", 7});
    pathmap_close(map);
}

Test(builds, without_build_ids_nothing_is_told)
{
    struct pathmap *map = map_of(1, (const char *const[]){"/bin/one"});
    struct builds *builds = builds_new(map, NULL);
    cr_expect_eq(builds_note(builds, "/bin/two", &(struct build_id){0}), 0);
    cr_expect_not(builds_foreign(builds));
    cr_expect_not(builds_stale(builds));
    builds_free(builds);
    pathmap_close(map);
}
