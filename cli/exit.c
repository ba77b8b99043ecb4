#include "cli/exit.h"

#include <errno.h>
#include <sys/wait.h>

int exit_code_of(const struct fathom_error *err)
{
    switch (err->code) {
    case 0:
        return EXIT_OK;
    case EINVAL:
        return EXIT_USAGE;
    case EPERM:
    case EACCES:
        return EXIT_PERMISSION;
    case EBADMSG:
    case ENOMSG:
    case ENOTSUP:
    case ENOEXEC:
        return EXIT_INPUT;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case ESRCH:
        return EXIT_MISSING;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EPIPE:
    case EROFS:
    case EISDIR:
    case ENXIO:
    case ENOTTY:
    case EBADF:
        return EXIT_OUTPUT;
    case ESTALE:
        return EXIT_BUILD;
    default:
        return EXIT_OTHER;
    }
}

int exit_result(struct terminal *terminal, int rc, const struct fathom_error *err)
{
    if (rc < 0)
        terminal_error(terminal, err);
    return rc < 0 ? exit_code_of(err) : EXIT_OK;
}

int exit_code_of_status(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    if (WIFSIGNALED(wait_status))
        return 128 + WTERMSIG(wait_status);
    return EXIT_OTHER;
}
