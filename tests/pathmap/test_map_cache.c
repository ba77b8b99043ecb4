/* test_map_cache.c - maps that are kept by program and recording: which are found, how many stay. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/map/map_cache.h"

static char home[] = "/tmp/fathom-maps.XXXXXX", maps[256];
static const struct build_id build_a = {4, {1, 2, 3, 0xfe}}, build_b = {20, {1, 2, 3, 0xfe}}, no_build;

static void begin(void)
{
    cr_assert_not_null(mkdtemp(home));
    setenv("XDG_CACHE_HOME", home, 1);
    snprintf(maps, sizeof maps, "%s/fathom/maps", home);
}

static void end(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", home);
    cr_assert_eq(system(command), 0);
}

TestSuite(map_cache, .init = begin, .fini = end);

/* A program with one path, of so many samples. */
static struct trie *program(uint64_t samples)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f");
    trie_add(t, trie_child(t, TRIE_ROOT, f, 16, 0), samples, samples);
    return t;
}

static void add(const struct build_id *id, uint64_t recording, uint64_t samples)
{
    struct fathom_error err = {0};
    struct trie *t = program(samples);
    cr_assert_geq(map_cache_add(id, recording, t, &err), 0, "%s", err.text);
    trie_free(t);
}

/* The samples of all recordings of the program but this one; *maps_used: how many they are. */
static uint64_t samples(const struct build_id *id, uint64_t recording, int *maps_used)
{
    struct fathom_error err = {0};
    struct trie *t = trie_new();
    struct pathmap *map;
    *maps_used = map_cache_get(NULL, id, recording, t, &err);
    cr_assert_eq(pathmap_over(t, &map, &err), 0);
    uint64_t found = pathmap_node_count(map) ? pathmap_node(map, 0).self : 0;
    pathmap_close(map);
    trie_free(t);
    return found;
}

static size_t count(void)
{
    struct map_cache_entry *entries;
    size_t n;
    cr_assert_eq(map_cache_list(NULL, &entries, &n, NULL), 0);
    map_cache_list_free(entries, n);
    return n;
}

Test(map_cache, other_recordings_of_the_program_are_added_up)
{
    int used;
    cr_expect_eq(count(), 0);
    cr_expect_eq(samples(&build_a, 1, &used), 0);
    cr_expect_eq(used, 0);
    add(&build_a, 1, 10);
    add(&build_a, UINT64_MAX, 200);
    add(&build_b, 3, 3000);
    cr_expect_eq(samples(&build_a, 7, &used), 210);
    cr_expect_eq(used, 2);
    cr_expect_eq(samples(&build_a, 1, &used), 200);
    cr_expect_eq(samples(&build_a, UINT64_MAX, &used), 10);
    cr_expect_eq(samples(&build_b, 1, &used), 3000);
    add(&build_a, 1, 20); /* written again */
    cr_expect_eq(samples(&build_a, 7, &used), 220);
}

Test(map_cache, a_program_without_a_build_id_has_none)
{
    int used;
    add(&no_build, 1, 10);
    cr_expect_eq(count(), 0);
    cr_expect_eq(samples(&no_build, 2, &used), 0);
}

Test(map_cache, the_latest_recordings_stay)
{
    int used;
    add(&build_b, 1, 1);
    for (unsigned i = 0; i < MAP_CACHE_RECORDINGS + 4; i++) {
        add(&build_a, i + 1, UINT64_C(1) << i);
        usleep(10000); /* files' times have their own grain */
    }
    cr_expect_eq(count(), MAP_CACHE_RECORDINGS + 1);
    cr_expect_eq(samples(&build_a, 0, &used), ((UINT64_C(1) << MAP_CACHE_RECORDINGS) - 1) << 4);
    cr_expect_eq(samples(&build_b, 0, &used), 1);
}

static void make(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", maps, name);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs("no map", file) >= 0 && fclose(file) == 0);
}

Test(map_cache, what_is_no_map_is_left_alone)
{
    static const char *const names[] = {"notes",
                                        "-0123456789abcdef.fmap",
                                        "012-0123456789abcdef.fmap",
                                        "0102-0123456789abcde.fmap",
                                        "0102-0123456789abcdef0.fmap",
                                        "0102-0123456789ABCDEF.fmap",
                                        "0102-0123456789abcdef.fmap.old",
                                        "010203040506070809101112131415161718192021-0123456789abcdef.fmap"};
    int used;
    add(&build_a, 1, 10);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        make(names[i]);
    cr_expect_eq(count(), 1);
    make("010203fe-0123456789abcdef.fmap");
    cr_expect_eq(count(), 2);
    cr_expect_eq(samples(&build_a, 7, &used), 10);
    cr_expect_eq(used, 1, "one is damaged");
}

Test(map_cache, where_nothing_can_be_kept_nothing_is)
{
    int used;
    cr_assert_eq(chmod(home, 0777), 0);
    add(&build_a, 1, 10);
    cr_expect_eq(samples(&build_a, 2, &used), 0);
    cr_assert_eq(chmod(home, 0700), 0);
    add(&build_a, 1, 10);
    cr_expect_eq(samples(&build_a, 2, &used), 10);
}
