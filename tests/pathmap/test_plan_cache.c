/* test_plan_cache.c - plans that are kept: taken when whole and of this image, made anew else. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmap/train/plan_cache.h"

static char home[] = "/tmp/fathom-plans.XXXXXX", plans[256];
static const struct plan_options whole, calls = {.calls_only = true};

static void begin(void)
{
    cr_assert_not_null(mkdtemp(home));
    setenv("XDG_CACHE_HOME", home, 1);
    snprintf(plans, sizeof plans, "%s/fathom/plans", home);
}

static void end(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", home);
    cr_assert_eq(system(command), 0);
}

/* Of a small program, since it is made many times. */
#define PROGRAM "/bin/sh"
static struct plan_made get(const struct plan_options *options)
{
    struct plan_made g = {0};
    struct fathom_error err = {0};
    struct plan_cache *cache = plan_cache_open();
    struct image_cache *images = image_cache_new(NULL);
    cr_assert_eq(plan_cache_get(cache, images, PROGRAM, options, &g, &err), 0, "%s", err.text);
    struct plan plan;
    cr_assert_eq(plan_read(g.data, g.size, &plan, NULL), 0);
    image_cache_free(images);
    plan_cache_close(cache);
    return g;
}

static void drop(struct plan_made *g)
{
    free(g->data);
    plan_summary_free(&g->summary);
}

/* The kept files, and the path of one. */
static size_t kept(char *path, size_t capacity)
{
    size_t count = 0;
    DIR *dir = opendir(plans);
    cr_assert_not_null(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (d->d_name[0] == '.')
            continue;
        count++;
        if (path)
            cr_assert_lt((size_t)snprintf(path, capacity, "%s/%s", plans, d->d_name), capacity);
    }
    closedir(dir);
    return count;
}

static void expect_same(const struct plan_made *a, const struct plan_made *b)
{
    cr_assert_eq(a->size, b->size);
    cr_expect_arr_eq(a->data, b->data, a->size);
    cr_expect_arr_eq(a->summary.kinds, b->summary.kinds, sizeof a->summary.kinds);
    cr_assert_eq(a->summary.left_out_count, b->summary.left_out_count);
}

Test(plan_cache, keeps_a_plan_and_takes_it, .init = begin, .fini = end)
{
    char path[512];
    struct plan_made first = get(&whole);
    cr_assert_eq(kept(path, sizeof path), 1);
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0600);
    /* Made anew it would have another time. */
    const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    cr_assert_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ino_t inode = st.st_ino;
    struct plan_made second = get(&whole);
    expect_same(&first, &second);
    cr_assert_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_ino, inode, "it was not written again");
    cr_expect_gt(st.st_atim.tv_sec, 1000000000, "it was used");
    struct plan_made other = get(&calls);
    cr_expect_eq(((struct plan_header *)other.data)->hook_count, 0);
    cr_expect_eq(kept(NULL, 0), 2, "other options, another plan");
    drop(&first);
    drop(&second);
    drop(&other);
}

Test(plan_cache, makes_a_plan_anew_when_what_is_kept_is_damaged, .init = begin, .fini = end)
{
    char path[512];
    struct stat st;
    struct plan_made good = get(&whole);
    kept(path, sizeof path);
    cr_assert_eq(stat(path, &st), 0);
    for (int i = 0; i < 40; i++) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        off_t at = i < 20 ? i * 8 : (off_t)((uint64_t)st.st_size * (uint64_t)(i - 20) / 20);
        uint8_t byte;
        cr_assert_eq(pread(fd, &byte, 1, at), 1);
        byte ^= (uint8_t)(1 << i % 8);
        cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
        if (i % 7 == 6)
            cr_assert_eq(ftruncate(fd, at), 0);
        close(fd);
        struct plan_made again = get(&whole);
        expect_same(&good, &again);
        drop(&again);
    }
    drop(&good);
}

Test(plan_cache, is_safe_for_many_at_once, .init = begin, .fini = end)
{
    for (int i = 0; i < 8; i++) {
        if (fork() == 0) {
            struct plan_made g = get(i % 2 ? &whole : &calls);
            drop(&g);
            _exit(0);
        }
    }
    for (int i = 0, status; i < 8; i++) {
        cr_assert_gt(wait(&status), 0);
        cr_expect_eq(status, 0);
    }
    cr_expect_eq(kept(NULL, 0), 2);
    struct plan_made g = get(&whole);
    drop(&g);
}

Test(plan_cache, does_without_a_directory)
{
    setenv("XDG_CACHE_HOME", "/proc/no", 1);
    struct plan_made g = get(&whole);
    drop(&g);
}
