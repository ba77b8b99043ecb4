/*
 * hooks.h - tells what the probe runtime could hook in a session's processes, what it could not, and which calls were not
 * counted.
 */
#ifndef FATHOM_CLI_HOOKS_H
#define FATHOM_CLI_HOOKS_H

#include "cli/command.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

/* chosen: the images to hook were named by the user. */
void hooks_say(struct terminal *terminal, const struct harvest *harvest, const struct session *session,
               bool chosen);
/* The error that no calls were seen, and why. */
int hooks_none(const char *command, const struct session_notes *notes, bool chosen, struct fathom_error *err);
void hooks_say_losses(struct terminal *terminal, const struct harvest *harvest, const char *directory);

#endif
