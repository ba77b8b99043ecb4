/*
 * Programs built with -finstrument-functions: the exact tree, functions in order of their first call.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pathmap/probe/core.h"
#include "tests/pathmap/cyg_calls.h"
#include "tests/pathmap/probe_tree.h"

static const char *const names[] = {"", "calls", "leaf", "nine", "down", "grow", "leap"};

static void check(int (*calls)(void))
{
    char directory[] = "/tmp/test_probe_cyg.XXXXXX", command[64];
    cr_assert(mkdtemp(directory));
    cr_assert_eq(core_start(directory), 0);
    cr_expect_eq(calls(), 480);
    const char *store = probe_store(directory, getpid());
    char *tree = probe_tree(store, names, sizeof names / sizeof *names, 0);
    cr_expect_str_eq(
        tree,
        "calls 1\ncalls down 10\ncalls down down 10\ncalls down down down 10\n"
        "calls down down down down 10\ncalls grow 10\ncalls grow down 10\ncalls grow down down 10\n"
        "calls grow leaf 10\ncalls leaf 10\ncalls leap 10\ncalls leap leaf 10\ncalls nine 10\n"
        "calls nine leaf 10\n",
        "%s", tree);
    free(tree);
    struct store_header header = probe_header(store);
    cr_expect_eq(header.image_count, 1);
    cr_expect_eq(header.function_count, 7);
    struct store_image image;
    char self[4096] = "";
    int fd = open(store, O_RDONLY | O_CLOEXEC);
    cr_expect_eq(pread(fd, &image, sizeof image, STORE_IMAGES_AT), (ssize_t)sizeof image);
    close(fd);
    cr_expect_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    cr_expect_str_eq(image.path, self);
    cr_expect(image.low <= (uint64_t)calls && (uint64_t)calls < image.high);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

Test(probe_cyg, with_frame_pointers)
{
    check(cyg_calls_framed);
}

Test(probe_cyg, without_frame_pointers)
{
    check(cyg_calls_optimised);
}
