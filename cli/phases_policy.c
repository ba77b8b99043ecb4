/* phases_policy.c - see phases_policy.h. */
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

bool phases_policy_take(const char *text, struct fathom_recorder_options *options)
{
    const size_t length = strcspn(text, ":");
    const char *digits = text[length] ? text + length + 1 : NULL;
    char *end = NULL;
    const unsigned long share = digits && *digits >= '1' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
    if (digits && (!share || share > SHARE_MOST || *end))
        return false;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strlen(policies[i].word) == length && memcmp(policies[i].word, text, length) == 0) {
            options->phase_policy = policies[i].policy;
            options->phase_share = share;
            return true;
        }
    return false;
}
