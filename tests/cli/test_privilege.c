/* What a process that has given up its privileges can still do. Only root has any. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#include "cli/privilege.h"

static char directory[] = "/tmp/fathom-privilege.XXXXXX";

static bool has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 1;
}

/* Creates a file; 0 or an errno. */
static int create(const char *below, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s/%s", directory, below, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* In a process of its own: `mistake` is the exit status, 0 for none. */
static int in_child_writing(const char *output, int (*mistake)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct terminal terminal;
        terminal_init(&terminal);
        privilege_only_read_and(&(struct fathom_writing){.output = output}, &terminal);
        _exit(mistake());
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int in_child(int (*mistake)(void))
{
    return in_child_writing(NULL, mistake);
}

static void set_up(void)
{
    char path[64];
    if (geteuid() != 0)
        cr_skip_test("only root has privileges to give up");
    strcpy(directory, "/tmp/fathom-privilege.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/cache", directory);
    mkdir(path, 0700);
    setenv("XDG_CACHE_HOME", path, 1);
    unsetenv("DEBUGINFOD_URLS");
    snprintf(path, sizeof path, "%s/theirs", directory);
    mkdir(path, 0700);
    cr_assert_eq(create("theirs", "file"), 0);
    cr_assert_eq(chown(path, 65534, 65534), 0);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

TestSuite(privilege, .init = set_up, .fini = tear_down);

static int reading(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/theirs/file", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? 1 : 0;
}

/* With capabilities alone, too. */
static int rights(void)
{
    if (create("theirs", "mine") == 0)
        return 1;
    return chown(directory, 1, 1) == 0 || setuid(1) == 0 ? 2 : 0;
}

static int writing(void)
{
    if (create(".", "file") != EACCES)
        return 1;
    if (create("cache", "file") != 0)
        return 2;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return fd < 0 ? 3 : 0;
}

static int executing(void)
{
    execl("/bin/true", "true", NULL);
    return errno == EACCES ? 0 : 1;
}

static int reaching(void)
{
    if (kill(getppid(), 0) == 0)
        return 1;
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno == EACCES ? 0 : 2;
}

Test(privilege, what_remains)
{
    cr_expect_eq(in_child(reading), 0, "files of other users can be read");
    int mistake = in_child(rights);
    cr_expect_eq(mistake, 0, "root's rights are gone: %d", mistake);
}

Test(privilege, landlock_confines)
{
    if (!has_landlock())
        cr_skip_test("this kernel has no Landlock");
    int mistake = in_child(writing);
    cr_expect_eq(mistake, 0, "files are written below the cache alone: %d", mistake);
    cr_expect_eq(in_child(executing), 0, "nothing is executed");
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 6) {
        mistake = in_child(reaching);
        cr_expect_eq(mistake, 0, "no signals, no connections: %d", mistake);
    }
}

static int into_cache(void)
{
    return create("cache", "file");
}

/* XDG_CACHE_HOME is a link of this user's to the cache. */
static void link_cache(uid_t user)
{
    char link[64], cache[64];
    snprintf(link, sizeof link, "%s/link", directory);
    snprintf(cache, sizeof cache, "%s/cache", directory);
    cr_assert_eq(symlink(cache, link), 0);
    cr_assert_eq(lchown(link, user, user), 0);
    setenv("XDG_CACHE_HOME", link, 1);
}

Test(privilege, follows_own_links)
{
    if (!has_landlock())
        cr_skip_test("this kernel has no Landlock");
    link_cache(0);
    cr_expect_eq(in_child(into_cache), 0, "root's own link leads to the cache");
}

Test(privilege, follows_no_foreign_links)
{
    if (!has_landlock())
        cr_skip_test("this kernel has no Landlock");
    link_cache(65534);
    cr_expect_eq(in_child(into_cache), EACCES, "another user's link opens nothing");
}

Test(privilege, foreign_caches_are_not_written)
{
    char cache[64];
    if (!has_landlock())
        cr_skip_test("this kernel has no Landlock");
    snprintf(cache, sizeof cache, "%s/cache", directory);
    cr_assert_eq(chown(cache, 65534, 65534), 0);
    cr_assert_eq(chmod(cache, 0777), 0);
    cr_expect_eq(in_child(into_cache), EACCES, "HOME of another user");
}

/* The output is in a directory of another user, which only root's rights write to; they go no further than it. */
static int beside_output(void)
{
    if (create("theirs", "output") != 0)
        return 1;
    if (has_landlock() && create(".", "file") != EACCES)
        return 2;
    return chown(directory, 1, 1) == 0 || setuid(1) == 0 ? 3 : 0;
}

Test(privilege, output_can_be_written)
{
    char output[64];
    snprintf(output, sizeof output, "%s/theirs/output", directory);
    int mistake = in_child_writing(output, beside_output);
    cr_expect_eq(mistake, 0, "the output and no more: %d", mistake);
}

static int own_output(void)
{
    if (create(".", "output") != 0)
        return 1;
    return create("theirs", "mine") == EACCES ? 0 : 2;
}

Test(privilege, rights_around_modes_go_unless_the_output_needs_them)
{
    char output[64];
    snprintf(output, sizeof output, "%s/output", directory);
    int mistake = in_child_writing(output, own_output);
    cr_expect_eq(mistake, 0, "the output by the mode of its directory: %d", mistake);
}
