/* hook_session.c - see hook_session.h. */
#include "cli/hook_session.h"

#include <signal.h>

#include "cli/recover.h"
#include "base/scratch.h"
#include "pathmap/train/session_directory.h"

int hook_session_open(const struct session_options *options, struct terminal *terminal,
                      struct hook_session *out, struct fathom_error *err)
{
    sigset_t all, before; /* between the next two steps no signal may end this process */
    recover_abandoned(terminal);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int rc = session_open(options, &out->session, err);
    if (rc == 0)
        rc = scratch_watch(session_directory(out->session),
                           options->no_map ? NULL : session_directory_has_calls, &out->watch, err);
    if (rc < 0)
        hook_session_close(out);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void hook_session_close(struct hook_session *hooks)
{
    session_close(hooks->session); /* removes it at once; the watch then finds nothing */
    scratch_free(hooks->watch);
    *hooks = (struct hook_session){0};
}
