/* train_left.h - reports which programs were not trained, and why, so that none is left out silently. */
#ifndef FATHOM_CLI_TRAIN_LEFT_H
#define FATHOM_CLI_TRAIN_LEFT_H

#include "cli/command.h"
#include "pathmap/train/session_notes.h"

void train_say_left(struct terminal *terminal, const struct session_notes *notes);

#endif
