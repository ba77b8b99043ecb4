#include "cli/exit.h"

#include <errno.h>
#include <sys/wait.h>

int exit_code_of(const struct fathom_error *err)
{
    static const struct {
        enum exit_code code;
        int errors[10]; /* 0: none */
    } codes[] = {
        {EXIT_USAGE, {EINVAL}},
        {EXIT_PERMISSION, {EPERM, EACCES}},
        {EXIT_INPUT, {EBADMSG, ENOMSG, ENOTSUP, ENOEXEC}},
        {EXIT_MISSING, {ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, ESRCH}},
        {EXIT_OUTPUT, {ENOSPC, EDQUOT, EFBIG, EIO, EPIPE, EROFS, EISDIR, ENXIO, ENOTTY, EBADF}},
        {EXIT_BUILD, {ESTALE}},
    };
    for (size_t i = 0; err->code && i < sizeof codes / sizeof *codes; i++)
        for (size_t e = 0; e < sizeof codes->errors / sizeof *codes->errors; e++)
            if (codes[i].errors[e] == err->code)
                return codes[i].code;
    return err->code ? EXIT_OTHER : EXIT_OK;
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
