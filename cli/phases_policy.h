/* phases_policy.h - the words of `--phases-policy`, which the agent's configuration has, too. */
#ifndef FATHOM_CLI_PHASES_POLICY_H
#define FATHOM_CLI_PHASES_POLICY_H

#include <stdbool.h>

#include "api/fathom.h"
#include "cli/options.h"

/* Takes "POLICY" or "POLICY:N" (N 0: not given). false: it is neither, which changes nothing. */
bool phases_policy_take(const char *text, enum fathom_interval_policy *policy, uint64_t *share);
/* The same for an option, with a message. */
bool phases_policy_option(struct terminal *terminal, const struct option_row *row, const char *text,
                          enum fathom_interval_policy *policy, uint64_t *share);
extern const char phases_policy_words[]; /* "third, second, ..." */

#endif
