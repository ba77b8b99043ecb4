/* phases_policy.h - parses `--phases-policy`, which is also in the agent's configuration. */
#ifndef FATHOM_CLI_PHASES_POLICY_H
#define FATHOM_CLI_PHASES_POLICY_H

#include <stdbool.h>

#include "api/fathom.h"
#include "cli/options.h"

/* Parses "POLICY" or "POLICY:N"; *share is 0 without N. false: invalid, which changes nothing. */
bool phases_policy_take(const char *text, enum fathom_interval_policy *policy, uint64_t *share);
/* The same for an option, with a message. */
bool phases_policy_option(struct terminal *terminal, const struct option_row *row, const char *text,
                          enum fathom_interval_policy *policy, uint64_t *share);
extern const char phases_policy_words[]; /* "third, second, ..." */

#endif
