/*
 * Processes that start processes. 200 ms each:
 *
 *   main parent_work                 the first process
 *   main child child_work            forked, without exec
 *   main again                       forked, then this program executed anew (by the same name)
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static volatile char sink;

KNOWN static void parent_work(void)
{
    spin(200);
}

KNOWN static void child_work(void)
{
    spin(200);
}

KNOWN static void child(void)
{
    child_work();
    sink = 1;
}

KNOWN static void again(void)
{
    spin(200);
}

KNOWN static void await(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        exit(1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0) {
        again();
        return 0;
    }
    parent_work();
    pid_t pid = fork();
    if (pid == 0) {
        child();
        _exit(0);
    }
    await(pid);
    pid = fork();
    if (pid == 0) {
        execl(argv[0], argv[0], "again", (char *)NULL);
        _exit(127);
    }
    await(pid);
    return 0;
}
