/* show.c - the rows as text for 80 columns, or as JSON (fathom-doctor(1) documents it); see doctor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/options.h"
#include "config.h"
#include "report/export/json.h"

#define WIDTH        80
#define INDENT       30 /* column of the texts */
#define JSON_VERSION 1

static const struct {
    const char *shown, *word, *colour;
} states[ROW_STATES] = {
    [ROW_OK] = {"ok", "ok", "\033[32m"},
    [ROW_NOTE] = {"note", "note", "\033[36m"},
    [ROW_LIMIT] = {"LIMIT", "limit", "\033[33m"},
    [ROW_FAIL] = {"FAIL", "fail", "\033[1;31m"},
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

static void print_row(const struct row *row, bool colour)
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

static void print_verdict(const struct rows *rows)
{
    unsigned fails = rows_counted(rows, ROW_FAIL), limits = rows_counted(rows, ROW_LIMIT);
    const struct row *sampling = rows_find(rows, "sampling");
    if (sampling && sampling->state == ROW_FAIL)
        puts("\nSampling is impossible here: see FAIL above.");
    else if (fails)
        puts("\nSampling works, but not as asked: see FAIL above.");
    else if (limits)
        printf("\nSampling works; %u thing%s limited: see LIMIT above.\n", limits,
               limits == 1 ? " is" : "s are");
    else
        puts("\nSampling works, without a limit.");
}

void doctor_print(const struct rows *rows, bool colour)
{
    const char *group = "";
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        if (strcmp(group, row->group) != 0)
            printf("%s%s\n", i ? "\n" : "", heading_of(row->group));
        group = row->group;
        print_row(row, colour);
    }
    print_verdict(rows);
}

static const char *worst(const struct rows *rows)
{
    for (int state = ROW_STATES - 1; state > ROW_OK; state--)
        if (rows_counted(rows, (enum row_state)state))
            return states[state].word;
    return states[ROW_OK].word;
}

int doctor_write_json(const struct rows *rows, int code, struct fathom_error *err)
{
    struct printer printer = {.out = stdout};
    struct json json = {.printer = &printer};
    json_object(&json, NULL);
    json_number(&json, "version", JSON_VERSION);
    json_text(&json, "fathom", PACKAGE_VERSION);
    json_number(&json, "status", (uint64_t)code);
    json_text(&json, "worst", worst(rows));
    json_array(&json, "checks");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        json_object(&json, NULL);
        json_text(&json, "group", row->group);
        json_text(&json, "id", row->id);
        json_text(&json, "state", states[row->state].word);
        json_text(&json, "is", row->is);
        json_text(&json, "costs", row->costs);
        json_text(&json, "mend", row->mend);
        json_text(&json, "command", row->command);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    return printer_finish(&printer, err);
}
