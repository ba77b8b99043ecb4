/* perf's build-id cache: files that another user, or a killed process, left. */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/build_id_cache.h"

static char directory[64];
static const struct build_id id = {.size = 3, .bytes = {0x12, 0x34, 0x56}};

static void begin(void)
{
    strcpy(directory, "/tmp/fathom-test-cache.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void end(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

static int add(const char *cache, size_t size)
{
    void *data = calloc(size, 1);
    char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, cache);
    int rc = build_id_cache_add(
        path, &(struct build_id_cache_file){"/usr/bin/work", &id, "elf", NULL, data, size}, NULL);
    free(data);
    return rc;
}

Test(build_id_cache, a_killed_process_leaves_no_file, .init = begin, .fini = end)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit file = {4096, 4096}, core = {0, 0};
        setrlimit(RLIMIT_CORE, &core);
        setrlimit(RLIMIT_FSIZE, &file);
        signal(SIGXFSZ, SIG_DFL);
        add("cache", 65536);
        _exit(1);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    cr_expect_eq(system("test -d cache/usr/bin/work/123456 && test -z \"$(find cache -type f)\""), 0);
    cr_expect_eq(add("cache", 65536), 1);
    cr_expect_eq(add("cache", 65536), 0);
    cr_expect_eq(system("test $(stat -Lc %s:%a cache/.build-id/12/3456/elf) = 65536:644"), 0);
    cr_expect_eq(system("test $(find cache -type f | wc -l) = 1"), 0);
}

Test(build_id_cache, a_link_of_another_user_is_not_followed, .init = begin, .fini = end)
{
    if (geteuid() != 0)
        cr_skip_test("needs root");
    cr_assert(mkdir("own", 0700) == 0 && symlink("own", "link") == 0);
    cr_expect_eq(add("link", 1), 1);
    cr_assert_eq(system("rm -rf own/*"), 0);
    cr_assert_eq(lchown("link", 65534, 65534), 0);
    cr_expect_eq(add("link", 1), -EPERM);
    cr_assert_eq(lchown("own", 65534, 65534), 0);
    cr_expect_eq(add("own", 1), -EPERM);
}

static void expect_directory(const char *name)
{
    char expected[100], *found = build_id_cache_directory();
    snprintf(expected, sizeof expected, "%s/%s", directory, name);
    cr_expect_str_eq(found, expected);
    free(found);
}

Test(build_id_cache, what_is_no_configuration_is_not_read, .init = begin, .fini = end, .timeout = 10)
{
    unsetenv("PERF_BUILDID_DIR");
    setenv("HOME", directory, 1);
    FILE *out = fopen(".perfconfig", "w");
    fputs("[buildid]\n\tdir = ~/there # here\n", out);
    fclose(out);
    expect_directory("there");
    if (geteuid() == 0) {
        cr_assert_eq(chown(".perfconfig", 65534, 65534), 0);
        expect_directory(".debug");
    }
    unlink(".perfconfig");
    cr_assert_eq(mkfifo(".perfconfig", 0600), 0); /* which nobody writes */
    expect_directory(".debug");
    unlink(".perfconfig");
    cr_assert_eq(symlink("/dev/zero", ".perfconfig"), 0);
    expect_directory(".debug");
}
