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
static int in_child(int (*mistake)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct terminal terminal;
        terminal_init(&terminal);
        privilege_only_read(&terminal);
        _exit(mistake());
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
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
