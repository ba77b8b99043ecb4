/* command.c - see command.h. */
#include "cli/command.h"

#include <string.h>

/* clang-format off */
const struct command *const command_table[] = {
    &record_command,
    &events_command,
    &train_command,
    &report_command,
    &script_command,
    &annotate_command,
    &diff_command,
    &archive_command,
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
