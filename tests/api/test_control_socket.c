/* Commands to a recording: whom the socket obeys, what it answers, and what it leaves behind. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/record/control_socket.h"

static char directory[64], path[96];
static struct phase_control control;
static struct control_socket *served;

static void set_up(void)
{
    strcpy(directory, "/tmp/fathom-control.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    control = (struct phase_control){.intervals = 7, .profiled = 2};
    umask(0);
    cr_assert_eq(control_socket_open(path, &control, &served, NULL), 0);
}

static void tear_down(void)
{
    control_socket_close(served);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(control_socket, .init = set_up, .fini = tear_down);

static int join(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* What is answered so far; "-": nothing, and the connection stays; "": it is closed. */
static const char *answer(int fd)
{
    static char text[512];
    control_socket_serve(served);
    ssize_t got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
    text[got > 0 ? got : 0] = '\0';
    return got < 0 && errno == EAGAIN ? "-" : text;
}

static const char *ask(int fd, const char *text)
{
    cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    return answer(fd);
}

Test(control_socket, nobody_else_has_rights)
{
    struct stat st;
    cr_assert_eq(lstat(path, &st), 0);
    cr_expect_eq(st.st_mode, S_IFSOCK | 0600);
}

Test(control_socket, commands)
{
    int fd = join();
    cr_expect_str_eq(ask(fd, "status\n"), "ok: off, auto; on in 2 of 7 intervals\n");
    cr_expect_str_eq(ask(fd, "on\n"), "ok\n");
    cr_expect_eq(control.held, FATHOM_CONTROL_ON);
    cr_expect(!control.once);
    cr_expect_str_eq(ask(fd, "off\r\n"), "ok\n");
    cr_expect_eq(control.held, FATHOM_CONTROL_OFF);
    cr_expect_str_eq(ask(fd, "once\nstatus\n"), "ok\nok: off, held off; on in 2 of 7 intervals\n");
    cr_expect(control.once);
    cr_expect_str_eq(ask(fd, "au"), "-");
    cr_expect_str_eq(ask(fd, "to\n"), "ok\n");
    cr_expect_eq(control.held, FATHOM_CONTROL_AUTO);
    close(fd);
}

Test(control_socket, what_is_no_command)
{
    int fd = join();
    for (const char *const *word =
             (const char *const[]){"\n", "ON\n", "on \n", "onon\n", "enable\n", "%s%n\n", "\x01\xff\n", NULL};
         *word; word++)
        cr_expect(strncmp(ask(fd, *word), "error: no such command", 22) == 0, "%s", *word);
    cr_assert_eq(send(fd, "on\0x\n", 5, 0), 5);
    cr_expect_str_eq(answer(fd), "ok\n", "what is behind a zero byte is not looked at");
    cr_expect_eq(control.held, FATHOM_CONTROL_ON);
    close(fd);
}

Test(control_socket, a_long_line_ends_it)
{
    char line[CONTROL_SOCKET_LINE + 1];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    int fd = join();
    cr_expect_str_eq(ask(fd, line), "error: the line is longer than any command\n");
    cr_expect_str_eq(answer(fd), "");
    close(fd);
}

/* Commands without end take one round each; answers that nobody takes end the connection, and nothing waits. */
Test(control_socket, a_flood)
{
    int fd = join();
    char flood[4096];
    for (size_t i = 0; i < sizeof flood; i++)
        flood[i] = "on\n!"[i % 4];
    for (size_t round = 0; round < 100000; round++) {
        const bool gone = send(fd, flood, sizeof flood, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN;
        control_socket_serve(served);
        if (gone) {
            close(fd);
            return;
        }
    }
    cr_assert_fail("it was served to the end");
}

Test(control_socket, so_many_at_a_time)
{
    int fds[CONTROL_SOCKET_PEERS];
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++) {
        fds[i] = join();
        cr_expect_str_eq(ask(fds[i], "on\n"), "ok\n");
    }
    int more = join();
    cr_expect_str_eq(answer(more), "error: too many are connected\n");
    close(more);
    close(fds[3]);
    control_socket_serve(served);
    more = join();
    cr_expect_str_eq(ask(more, "on\n"), "ok\n", "there is room again");
    close(more);
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++)
        close(fds[i]);
}

/* Runs as another user, who has rights for the file. */
Test(control_socket, a_stranger)
{
    int status;
    if (geteuid() != 0)
        cr_skip_test("root only");
    chmod(directory, 0777);
    pid_t child = fork();
    if (child == 0)
        _exit(setuid(65534) != 0 || join() >= 0 || errno != EACCES);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "its mode keeps them out");
    chmod(path, 0666);
    child = fork();
    if (child == 0) {
        char text[128] = "";
        int fd = setuid(65534) == 0 ? join() : -1;
        /* They may be turned away before they say anything. */
        bool alive = fd >= 0 && (send(fd, "on\n", 3, MSG_NOSIGNAL) == 3 || errno == EPIPE);
        _exit(!alive || recv(fd, text, sizeof text - 1, MSG_WAITALL) <= 0 ||
              strcmp(text, "error: this is another user's recording\n") != 0);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        control_socket_serve(served);
    cr_expect_eq(status, 0, "so do we");
    cr_expect_eq(control.held, FATHOM_CONTROL_AUTO);
    chmod(directory, 0700);
}

Test(control_socket, it_goes)
{
    control_socket_close(served);
    served = NULL;
    cr_expect_eq(access(path, F_OK), -1);
}

Test(control_socket, what_is_not_ours_stays)
{
    unlink(path);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    control_socket_close(served);
    served = NULL;
    cr_expect_eq(access(path, F_OK), 0);
}

static void expect_refused(const char *at, int code, const char *says)
{
    struct fathom_error err = {0};
    struct control_socket *other = NULL;
    cr_expect_eq(control_socket_open(at, &control, &other, &err), -code, "%s: %s", at, err.text);
    cr_expect(strstr(err.text, says), "%s", err.text);
    cr_expect_null(other);
}

Test(control_socket, places)
{
    char file[128], far[200];
    expect_refused(path, EEXIST, "another program");
    snprintf(file, sizeof file, "%s/file", directory);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    expect_refused(file, EEXIST, "no socket");
    cr_expect_eq(access(file, F_OK), 0);
    unlink(file);
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    expect_refused(far, EINVAL, "from 1 to 107 bytes");
    expect_refused("", EINVAL, "from 1 to");
    expect_refused("/nowhere/socket", ENOENT, "/nowhere/socket");
}

/* Of a recorder that was killed. */
Test(control_socket, what_was_left_behind_is_replaced)
{
    int status;
    control_socket_close(served);
    served = NULL;
    pid_t child = fork();
    if (child == 0)
        _exit(control_socket_open(path, &control, &served, NULL) != 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert_eq(access(path, F_OK), 0);
    cr_assert_eq(control_socket_open(path, &control, &served, NULL), 0);
    int fd = join();
    cr_expect_str_eq(ask(fd, "on\n"), "ok\n");
    close(fd);
}
