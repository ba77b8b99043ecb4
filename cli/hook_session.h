/*
 * hook_session.h - a session of the probe runtime (pathmap/train/session.h) whose directory goes when the command ends, however
 * that ends. Only calls that a map can still be made of stay there, for recover.h.
 */
#ifndef FATHOM_CLI_HOOK_SESSION_H
#define FATHOM_CLI_HOOK_SESSION_H

#include "cli/terminal.h"
#include "pathmap/train/session.h"

struct hook_session { /* zeroed: none */
    struct session *session;
    struct scratch *watch;
};

/* Recovers, or removes, what earlier ones left, and opens this one. To be called before other threads exist. */
int hook_session_open(const struct session_options *options, struct terminal *terminal,
                      struct hook_session *out, struct fathom_error *err);
void hook_session_close(struct hook_session *hooks);

#endif
