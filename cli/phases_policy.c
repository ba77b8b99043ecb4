#include "cli/phases_policy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_MOST 1000000u

static const struct {
    const char *word;
    enum fathom_interval_policy policy;
} policies[] = {
    {"third", FATHOM_INTERVAL_THIRD},   {"second", FATHOM_INTERVAL_SECOND},
    {"random", FATHOM_INTERVAL_RANDOM}, {"periodic", FATHOM_INTERVAL_PERIODIC},
    {"chance", FATHOM_INTERVAL_CHANCE},
};

const char phases_policy_words[] = "third, second, random, periodic or chance";

bool phases_policy_take(const char *text, enum fathom_interval_policy *policy, uint64_t *share_out)
{
    const size_t length = strcspn(text, ":");
    const char *digits = text[length] ? text + length + 1 : NULL;
    char *end = NULL;
    const unsigned long share = digits && *digits >= '1' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
    if (digits && (!share || share > SHARE_MOST || *end))
        return false;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strlen(policies[i].word) == length && memcmp(policies[i].word, text, length) == 0) {
            *policy = policies[i].policy;
            *share_out = share;
            return true;
        }
    return false;
}

bool phases_policy_option(struct terminal *terminal, const struct option_row *row, const char *text,
                          enum fathom_interval_policy *policy, uint64_t *share)
{
    if (phases_policy_take(text, policy, share))
        return true;
    terminal_wrong(terminal, "--%s: '%s' is not one of %s, with or without ':N' (1 to 1000000)", row->name,
                   text, phases_policy_words);
    return false;
}
