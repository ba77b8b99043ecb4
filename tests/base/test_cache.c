/* Directories of kept files: whose they must be. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"

#define NOBODY 65534

static char home[] = "/tmp/fathom-kept.XXXXXX";

static void begin(void)
{
    cr_assert(mkdtemp(home) && chdir(home) == 0);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    umask(0);
}

static void end(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", home);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

TestSuite(kept, .init = begin, .fini = end);

static bool has(bool make)
{
    char *path = cache_directory("plans", make);
    bool is = path && access(path, R_OK | W_OK | X_OK) == 0;
    cr_expect(is == (path != NULL));
    free(path);
    return is;
}

static void needs_root(void)
{
    if (geteuid() != 0)
        cr_skip_test("only root can give files away");
}

Test(kept, directories_are_made_for_the_user_alone)
{
    cr_expect_not(has(false));
    cr_expect(has(true));
    cr_expect(has(false));
    cr_expect_eq(
        system("test \"$(stat -c %a .cache .cache/fathom .cache/fathom/plans | xargs)\" = '700 700 700'"), 0);
}

Test(kept, a_cache_that_others_can_write_is_not_used)
{
    cr_assert(has(true));
    cr_assert_eq(chmod(".cache/fathom/plans", 0770), 0);
    cr_expect_not(has(true));
    cr_assert_eq(chmod(".cache/fathom/plans", 0755), 0);
    cr_expect(has(true));
    cr_assert_eq(chmod(".cache/fathom", 0702), 0);
    cr_expect_not(has(true));
    cr_assert_eq(chmod(".cache/fathom", 0700), 0);
    cr_assert_eq(chmod(".cache", 0777), 0);
    cr_expect_not(has(true));
    cr_assert_eq(chmod(".cache", 01777), 0);
    cr_expect(has(true), "nobody else can move what lies in a sticky directory");
}

Test(kept, links_are_not_followed)
{
    char *directory = cache_directory("plans", true);
    cr_assert(directory && chdir(directory) == 0);
    cr_assert_eq(system("echo text > file && chmod 600 file && ln -s file link && mkdir inner"), 0);
    int fd = cache_open("file");
    cr_expect_geq(fd, 0);
    close(fd);
    cr_expect(cache_use("file"));
    cr_assert_eq(chmod("file", 0620), 0);
    cr_expect_eq(cache_open("file"), -1, "others may write it");
    cr_expect_eq(cache_open("link"), -1);
    cr_expect_not(cache_use("link"));
    cr_expect_not(cache_use("inner"));
    cr_expect_not(cache_use("none"));
    cr_assert_eq(system("cd ../.. && mv fathom others && ln -s others fathom"), 0);
    cr_expect_not(has(true));
    free(directory);
}

Test(kept, a_link_to_the_whole_cache_is_the_users_choice)
{
    cr_assert_eq(system("mkdir -m 755 elsewhere && ln -s elsewhere .cache"), 0);
    cr_expect(has(true));
    cr_expect_eq(access("elsewhere/fathom/plans", F_OK), 0);
}

Test(kept, another_users_home_is_not_used)
{
    needs_root();
    cr_assert(has(true));
    cr_assert_eq(chown(home, NOBODY, NOBODY), 0);
    cr_expect_not(has(true), "as by sudo, which may keep HOME");
    cr_assert_eq(chown(home, 0, 0), 0);
    const char *const parts[] = {".cache", ".cache/fathom", ".cache/fathom/plans"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        cr_assert_eq(chown(parts[i], NOBODY, NOBODY), 0);
        cr_expect_not(has(true), "%s", parts[i]);
        cr_expect_not(has(false), "%s", parts[i]);
        cr_assert_eq(chown(parts[i], 0, 0), 0);
    }
    cr_assert_eq(system("echo text > file"), 0);
    cr_assert_eq(chown("file", NOBODY, NOBODY), 0);
    cr_expect_not(cache_use("file"));
    char given[100];
    snprintf(given, sizeof given, "%s/given", home);
    cr_assert(mkdir(given, 0755) == 0 && chown(given, NOBODY, NOBODY) == 0);
    setenv("XDG_CACHE_HOME", given, 1);
    cr_expect_not(has(true));
    cr_expect_eq(access("given/fathom", F_OK), -1, "and nothing is made there");
}
