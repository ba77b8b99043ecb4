/* command.c - see command.h. */
#include "cli/command.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* clang-format off */
const struct command *const command_table[] = {
    &record_command,
    &events_command,
    &train_command,
    &report_command,
    &script_command,
    &phases_command,
    &annotate_command,
    &diff_command,
    &archive_command,
    &store_command,
    &agent_command,
    &map_command,
    &evaluate_command,
    &graph_command,
    &top_command,
    &calls_command,
    &hcct_command,
    &ambiguity_command,
    &disambig_command,
    &doctor_command,
    &help_command,
    NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_table[i]; i++) {
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    }
    return NULL;
}

enum { NAME_MOST = 16, SLIPS_MOST = 2 };

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Letters that were left out, added or changed, or that changed places with the next one. */
static unsigned slips_between(const char *a, const char *b)
{
    unsigned at[NAME_MOST + 1][NAME_MOST + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > NAME_MOST || n > NAME_MOST)
        return UINT_MAX;
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            at[i][j] = (unsigned)(i + j);
            if (!i || !j)
                continue;
            at[i][j] =
                least_of(at[i - 1][j] + 1, at[i][j - 1] + 1, at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && at[i - 2][j - 2] + 1 < at[i][j])
                at[i][j] = at[i - 2][j - 2] + 1;
        }
    }
    return at[m][n];
}

const struct command *command_like(const char *name)
{
    const struct command *best = NULL;
    unsigned fewest = SLIPS_MOST + 1;
    for (size_t i = 0; command_table[i]; i++) {
        unsigned slips = slips_between(name, command_table[i]->name);
        if (slips < fewest && slips < strlen(command_table[i]->name) / 2) {
            fewest = slips;
            best = command_table[i];
        }
    }
    return best;
}
