/* phases_policy.h - the words of `record --phases-policy`, which the agent's configuration has, too. */
#ifndef FATHOM_CLI_PHASES_POLICY_H
#define FATHOM_CLI_PHASES_POLICY_H

#include <stdbool.h>

#include "api/fathom.h"

/* Takes "POLICY" or "POLICY:N". false: it is neither. */
bool phases_policy_take(const char *text, struct fathom_recorder_options *options);
extern const char phases_policy_words[]; /* "third, second, ..." */

#endif
