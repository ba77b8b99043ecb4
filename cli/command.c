#include "cli/command.h"

#include <string.h>

#include "base/slips.h"

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
    &trace_command,
    &streams_command,
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

const struct command *command_like(const char *name)
{
    const struct command *best = NULL;
    unsigned fewest = SLIPS_MOST + 1;
    for (size_t i = 0; command_table[i]; i++)
        if (slips_are_few(name, command_table[i]->name, &fewest))
            best = command_table[i];
    return best;
}
