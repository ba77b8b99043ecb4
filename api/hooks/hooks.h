/*
 * hooks.h - tells what the probe runtime could hook in a session's processes, what it could not, and which calls were not
 * counted.
 */
#ifndef FATHOM_API_HOOKS_HOOKS_H
#define FATHOM_API_HOOKS_HOOKS_H

#include "api/fathom/train.h"
#include "api/host.h"
#include "image/elf/program.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

/* The way to train a program, and why its functions cannot be hooked (a clause; NULL: they can). */
enum fathom_train_way hooks_way(const struct program *program, const char **why);

/* Which programs ran without hooks, and why, so that none is left out silently. */
void hooks_say_unhooked(const struct host *host, const struct session_notes *notes);
/* chosen: the images to hook were named by the user. */
void hooks_say(const struct host *host, const struct harvest *harvest, const struct session *session,
               bool chosen);
/* The error that no calls were seen, and why. */
int hooks_none(const char *command, const struct session_notes *notes, bool chosen, struct fathom_error *err);
void hooks_say_losses(const struct host *host, const struct harvest *harvest, const char *directory);

#endif
