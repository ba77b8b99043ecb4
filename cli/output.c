#include "cli/output.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void output_alone(const char *path)
{
    /* Commands get the default (collector/targets/launch.c, api/hooks/hooked.c). */
    signal(SIGPIPE, SIG_IGN);
    if (strcmp(path, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

int output_divert(const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    output_alone(path);
    return fd;
}

int output_open(const char *path, struct outfile **out, struct fathom_error *err)
{
    int rc = outfile_open(path, out, err);
    if (rc == 0)
        output_alone(path);
    return rc;
}
