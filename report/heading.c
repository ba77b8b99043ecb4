/* heading.c - what stands above every report: what was recorded, and how far to trust it; see view.h. */
#include <string.h>

#include "report/printer.h"
#include "report/view.h"

enum { REASONS_MAX = sizeof((struct view_heading *)0)->unknown_by_reason / sizeof(uint64_t) };

/* " (0.9% not in the map, 0.5% no base)": the reasons why, the heaviest first. */
static void write_reasons(struct printer *printer, const struct view_heading *heading)
{
    bool written[REASONS_MAX] = {false};
    unsigned count = heading->reason_count < REASONS_MAX ? heading->reason_count : REASONS_MAX;
    bool any = false;
    for (;;) {
        unsigned best = count;
        for (unsigned i = 0; i < count; i++) {
            if (!written[i] && heading->unknown_by_reason[i] > 0 &&
                (best == count || heading->unknown_by_reason[i] > heading->unknown_by_reason[best]))
                best = i;
        }
        if (best == count)
            break;
        written[best] = true;
        char share[SHARE_SIZE];
        printer_write(printer, "%s%s %s", any ? ", " : " (",
                      share_format(share, heading->unknown_by_reason[best], heading->weight),
                      heading->reason_text[best]);
        any = true;
    }
    printer_write(printer, any ? ")\n" : "\n");
}

/* A text of the recording's; control characters only told. */
static void write_foreign(struct printer *printer, const char *text)
{
    for (; *text; text++)
        printer_write(printer, "%c", (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void write_word(struct printer *printer, const char *label, const char *word)
{
    if (!word)
        return;
    printer_write(printer, "%s", label);
    write_foreign(printer, word);
    printer_write(printer, "\n");
}

/* How far the contexts can be believed, and what would make them more certain. */
static void write_belief(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if (heading->weight > 0)
        printer_write(printer, "expected: %s of the weight is on the right path, by the probabilities\n",
                      share_format(share, (uint64_t)(heading->expected + 0.5), heading->weight));
    if (heading->audit_samples > 0)
        printer_write(printer, "audit:    %llu unwound stacks of this recording were used\n",
                      (unsigned long long)heading->audit_samples);
    if (heading->audits_checked > 0)
        printer_write(printer,
                      "measured: %llu of %llu unwound stacks that were held back were inferred right\n",
                      (unsigned long long)heading->audits_right, (unsigned long long)heading->audits_checked);
    if (heading->training && heading->rests_on_inference > 0) {
        printer_write(printer, "training: %s of the weight rests on inference; \"fathom train%s",
                      share_format(share, heading->rests_on_inference, heading->weight),
                      *heading->training ? " -- " : "");
        write_foreign(printer, heading->training);
        printer_write(printer, "\" would see its paths\n");
    }
}

static void write_warnings(struct printer *printer, const struct view_heading *heading)
{
    if (heading->lost > 0)
        printer_write(printer,
                      "warning:  %llu records were lost: the rings were full (record with a larger "
                      "--ring or less often)\n",
                      (unsigned long long)heading->lost);
    if (heading->throttled > 0)
        printer_write(printer,
                      "warning:  the kernel throttled sampling %llu times: weights of busy moments are "
                      "too small\n",
                      (unsigned long long)heading->throttled);
    if (heading->damaged > 0)
        printer_write(printer, "warning:  %llu damaged records were left out\n",
                      (unsigned long long)heading->damaged);
    if (heading->truncated)
        printer_write(printer, "warning:  the recording ends early: its last part is missing\n");
}

int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err)
{
    struct printer printer = {.out = out};
    char precise[SHARE_SIZE], inferred[SHARE_SIZE], ambiguous[SHARE_SIZE], unknown[SHARE_SIZE];
    write_word(&printer, "command:  ", heading->command);
    write_word(&printer, "event:    ", heading->event);
    write_word(&printer, "map:      ", heading->map);
    printer_write(&printer, "samples:  %llu", (unsigned long long)heading->samples);
    if (!options->unit || strcmp(options->unit, "samples") != 0 || heading->weight != heading->samples)
        printer_write(&printer, ", weight %llu%s%s", (unsigned long long)heading->weight,
                      options->unit ? " " : "", options->unit ? options->unit : "");
    printer_write(&printer, "\ncontexts: %s precise, %s inferred, %s ambiguous, %s unknown",
                  share_format(precise, heading->precise, heading->weight),
                  share_format(inferred, heading->inferred, heading->weight),
                  share_format(ambiguous, heading->ambiguous, heading->weight),
                  share_format(unknown, heading->unknown, heading->weight));
    write_reasons(&printer, heading);
    write_belief(&printer, heading);
    inferences_write(&printer, &heading->inferences);
    write_warnings(&printer, heading);
    printer_write(&printer, "\n");
    return printer_finish(&printer, err);
}
