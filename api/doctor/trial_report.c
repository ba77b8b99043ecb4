/* trial_report.c - the report on the hardware, which users can send back; see trial_run.h. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "api/doctor/trial_run.h"
#include "config.h"

/* Folders of a PMU in /sys, and the PMUs to report. */
static const char *const folders[] = {"caps", "format", "events"};
static const char *const units[] = {"cpu", PMUS_CORE, PMUS_ATOM, PMUS_LOW, "ibs_op", "ibs_fetch"};

/* Prints untrusted text, each line indented. */
static void print_clean(FILE *out, const char *indent, const char *text)
{
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *clean = strndup(line, length);
        if (clean) {
            text_clean(clean);
            fprintf(out, "%s%s\n", indent, clean);
        }
        free(clean);
        line += length + (line[length] == '\n');
    }
}

static void print_folder(FILE *out, const char *unit, const char *folder)
{
    char path[512], value[512];
    struct dirent **files = NULL;
    snprintf(path, sizeof path, "%s/%s/%s", pmus_here.devices, unit, folder);
    int count = scandir(path, &files, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char file[300], line[1200];
        snprintf(file, sizeof file, "%s/%s", folder, files[i]->d_name);
        if (files[i]->d_name[0] != '.' && pmus_text(&pmus_here, unit, file, value, sizeof value)) {
            snprintf(line, sizeof line, "%s/%s: %s", unit, file, value);
            print_clean(out, "  ", line);
        }
        free(files[i]);
    }
    free(files);
}

static void print_check(FILE *out, const struct trial_result *r)
{
    const struct trial_seen *seen = &r->seen;
    fprintf(out, "\n%s: %s\n", r->trial->id, trial_states[r->verdict.state]);
    fprintf(out, "  right is: %s\n", r->trial->right);
    print_clean(out, "  ", r->verdict.why);
    if (!r->ran)
        return;
    fputs("  command: fathom", out);
    for (const char *const *word = r->trial->arguments; *word; word++)
        fprintf(out, " %s", *word);
    fprintf(out, "\n  exit code %d, precise level %u, samples %" PRIu64 ", interrupts ", r->status,
            seen->precise, seen->samples);
    fprintf(out, seen->counted ? "%" PRIu64 "\n" : "not known\n", seen->interrupts);
    fprintf(out,
            "  calls: steps %" PRIu64 ", proved %" PRIu64 ", ways %" PRIu64 " and %" PRIu64
            ", astray %" PRIu64 "; data: addresses %" PRIu64 ", latencies %" PRIu64 "\n",
            seen->steps, seen->proved, seen->by_way[0], seen->by_way[1], seen->astray, seen->addressed,
            seen->slow);
    print_clean(out, "  | ", r->said);
}

void hardware_trials_report(FILE *out, const struct rows *rows, const struct trial_result *results)
{
    fputs("Fathom hardware report, format 1\nfathom " PACKAGE_VERSION "\n\nMachine\n", out);
    for (size_t i = 0; i < rows->count; i++) {
        char *line;
        if (strcmp(rows->at[i].group, "machine") != 0 && strcmp(rows->at[i].group, "hardware") != 0 &&
            strcmp(rows->at[i].group, "stacks") != 0)
            continue;
        if (asprintf(&line, "%s: %s", rows->at[i].id, rows->at[i].is) < 0)
            continue;
        print_clean(out, "  ", line);
        free(line);
    }
    fputs("\nCounters, as the kernel tells of them\n", out);
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        if (pmus_type(&pmus_here, units[unit]) < 0)
            continue;
        for (size_t folder = 0; folder < sizeof folders / sizeof *folders; folder++)
            print_folder(out, units[unit], folders[folder]);
    }
    if (!pmus_counters(&pmus_here))
        fputs("  none\n", out);
    fputs("\nChecks\n", out);
    for (size_t i = 0; i < trial_count; i++)
        print_check(out, &results[i]);
}
