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
void hooks_say_losses(struct terminal *terminal, const struct harvest *harvest, const char *directory);

#endif
