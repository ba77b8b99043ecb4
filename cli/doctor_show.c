/* doctor_show.c - findings as text for 80 columns; see doctor_show.h. */
#include "cli/doctor_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/terminal.h"

#define WIDTH  80
#define INDENT 30 /* column of the texts */

static const struct {
    const char *shown, *colour;
} states[] = {
    [FATHOM_FINDING_OK] = {"ok", "\033[32m"},
    [FATHOM_FINDING_NOTE] = {"note", "\033[36m"},
    [FATHOM_FINDING_LIMIT] = {"LIMIT", "\033[33m"},
    [FATHOM_FINDING_FAIL] = {"FAIL", "\033[1;31m"},
};

static const struct {
    const char *word, *heading;
} groups[] = {
    {"machine", "Machine"},
    {"hardware", "Hardware events"},
    {"rights", "What this user may sample"},
    {"stacks", "Stacks"},
    {"limits", "Limits"},
    {"training", "Training"},
    {"program", "Program"},
    {"checks", "Checks"},
};

static const char *heading_of(const char *group)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].word, group) == 0)
            return groups[i].heading;
    return group;
}

/* "LABEL text", wrapped. Untrusted. */
static void print_text(const char *label, const char *text, size_t at)
{
    char *clean;
    if (asprintf(&clean, "%s%s", label, text) < 0)
        return;
    text_clean(clean);
    option_fill(clean, &(struct option_filling){.width = WIDTH, .indent = INDENT, .at = at});
    free(clean);
}

static void print_row(const struct fathom_finding *row, bool colour)
{
    const char *shown = states[row->state].shown;
    printf("  %s%s%s%*s %-*s", colour ? states[row->state].colour : "", shown, colour ? "\033[0m" : "",
           (int)(5 - strlen(shown)), "", INDENT - 8, row->title);
    print_text("", row->is, INDENT);
    if (row->costs)
        print_text("costs: ", row->costs, 0);
    if (row->mend)
        print_text("mend: ", row->mend, 0);
    if (row->command) {
        printf("%*s$ ", INDENT - 20, "");
        terminal_print(row->command);
        putchar('\n');
    }
}

static void print_verdict(const struct fathom_finding *findings, size_t count)
{
    unsigned fails = 0, limits = 0;
    bool refused = false;
    for (size_t i = 0; i < count; i++) {
        bool fail = findings[i].state == FATHOM_FINDING_FAIL;
        fails += fail;
        limits += findings[i].state == FATHOM_FINDING_LIMIT;
        refused |= fail && strcmp(findings[i].id, "sampling") == 0;
    }
    if (refused)
        puts("\nSampling is impossible here: see FAIL above.");
    else if (fails)
        puts("\nSampling works, but not as asked: see FAIL above.");
    else if (limits)
        printf("\nSampling works; %u thing%s limited: see LIMIT above.\n", limits,
               limits == 1 ? " is" : "s are");
    else
        puts("\nSampling works, without a limit.");
}

void doctor_show(const struct fathom_finding *findings, size_t count, bool colour)
{
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        const struct fathom_finding *row = &findings[i];
        if (strcmp(group, row->group) != 0)
            printf("%s%s\n", i ? "\n" : "", heading_of(row->group));
        group = row->group;
        print_row(row, colour);
    }
    print_verdict(findings, count);
}
