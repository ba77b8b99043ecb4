/* Paths from foreign files that may be appended to a directory's, and sums of data in pieces. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/plain_path.h"

Test(plain_path, goes_down)
{
    static const char *const good[] = {"a", "a/b", ".a", "..a/..b", ".build-id/xx/yyyy/elf", "a b/[vdso]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect(plain_path(good[i]), "%s", good[i]);
}

Test(plain_path, leads_nowhere_else)
{
    static const char *const bad[] = {"",   "/",    "/a",   "a/",     "a//b", ".",
                                      "..", "../a", "a/..", "a/../b", "./a",  "a/."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(!plain_path(bad[i]), "%s", bad[i]);
}

Test(plain_path, of_a_path_below_the_root)
{
    static const char *const paths[][2] = {
        {"/a/b.c", "a/b.c"},  {"/a/./b//../c", "a/c"},    {"/../../etc/shadow", "etc/shadow"},
        {"/a/../../b/", "b"}, {"/a/b/..", "a"},           {"/", ""},
        {"/..", ""},          {"a/.../..b", "a/.../..b"}, {"/a/../..", ""},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *plain = plain_path_below_root(paths[i][0]);
        cr_expect_str_eq(plain, paths[i][1], "%s", paths[i][0]);
        cr_expect(!*plain || plain_path(plain));
        free(plain);
    }
}

Test(plain_path, is_no_longer_than_names_can_be)
{
    char path[PLAIN_PATH_MOST + 2];
    memset(path, 'a', sizeof path);
    path[255] = 0;
    cr_expect(plain_path(path));
    path[255] = 'a';
    path[256] = 0;
    cr_expect(!plain_path(path), "a component of 256 bytes");
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 2 ? '/' : 'a';
    path[PLAIN_PATH_MOST - 1] = 0;
    cr_expect(plain_path(path));
    path[PLAIN_PATH_MOST - 1] = '/';
    path[PLAIN_PATH_MOST + 1] = 0;
    cr_expect(!plain_path(path), "a path of %d bytes", PLAIN_PATH_MOST + 1);
}

Test(checksum, of_pieces_is_that_of_all)
{
    char data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    struct checksum *sum = checksum_begin();
    cr_assert(sum);
    for (size_t at = 0; at < sizeof data; at += 100)
        checksum_add(sum, data + at, 100);
    cr_expect_eq(checksum_end(sum), checksum_of(data, sizeof data));
    checksum_end(NULL);
}
