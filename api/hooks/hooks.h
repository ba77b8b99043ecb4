/* hooks.h - reports what the probe runtime could hook in a session's processes, what it could not, and which calls were not counted. */
#ifndef FATHOM_API_HOOKS_HOOKS_H
#define FATHOM_API_HOOKS_HOOKS_H

#include "api/fathom/train.h"
#include "api/host.h"
#include "image/elf/program.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

/* The method for training a program. *why: a clause that says why its functions cannot be hooked; NULL: they can. */
enum fathom_train_way hooks_way(const struct program *program, const char **why);

/* Reports which programs ran without hooks, and why. */
void hooks_say_unhooked(const struct host *host, const struct session_notes *notes);
/* Reports what was hooked. chosen: the user named the images to hook. */
void hooks_say(const struct host *host, const struct harvest *harvest, const struct session *session,
               bool chosen);
/* The error that no calls were seen, and why. */
int hooks_none(const char *command, const struct session_notes *notes, bool chosen, struct fathom_error *err);
void hooks_say_losses(const struct host *host, const struct harvest *harvest, const char *directory);

#endif
