/* heading_paths.c - see heading_paths.h. */
#include "report/views/heading_paths.h"

#include <string.h>

#include "base/saturate.h"
#include "report/text/weight.h"

enum { REASONS_MAX = sizeof((struct view_heading *)0)->unknown_by_reason / sizeof(uint64_t) };

/* Writes the reasons, heaviest first: " (0.9% not in the map, 0.5% no base)". */
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
    printer_write(printer, any ? ")" : "");
}

#define RANGE_LEAST 0.02 /* of the weight: narrower ranges are not shown */

const char *const expected_names[] = {[EXPECTED_BY_RUN] = "run",
                                      [EXPECTED_BY_INPUTS] = "inputs",
                                      [EXPECTED_BY_SLICES] = "slices",
                                      [EXPECTED_BY_NOTHING] = "nothing"};

/* Whether there is a range worth showing. */
static bool is_wide(const struct view_heading *heading)
{
    return heading->expected_most - heading->expected_least >= RANGE_LEAST * (double)heading->weight;
}

enum expected_by heading_expected_by(const struct view_heading *heading)
{
    return is_wide(heading) ? heading->expected_by : EXPECTED_BY_RUN;
}

/* Writes how much weight is expected to be right, its range if that is based on few stacks, and what the estimate is based on. */
static void write_expected(struct printer *printer, const struct view_heading *heading)
{
    char expected[SHARE_SIZE], least[SHARE_SIZE], most[SHARE_SIZE];
    if (heading->weight == 0)
        return;
    const bool told = is_wide(heading);
    const enum expected_by by = heading_expected_by(heading);
    if (by == EXPECTED_BY_NOTHING)
        printer_write(printer, "; not known how much is on the right path");
    else
        printer_write(printer, "; %s%s expected on the right path",
                      by == EXPECTED_BY_SLICES ? "no more than " : "",
                      share_format(expected, count_saturating(heading->expected + 0.5), heading->weight));
    if (told)
        printer_write(printer, " (%s to %s)",
                      share_format(least, count_saturating(heading->expected_least + 0.5), heading->weight),
                      share_format(most, count_saturating(heading->expected_most + 0.5), heading->weight));
    if (by == EXPECTED_BY_INPUTS)
        printer_write(printer, ", as the map's %u inputs predict each other", heading->expected_parts);
    if (by == EXPECTED_BY_SLICES)
        printer_write(printer, ": the map is of one input");
    if (by == EXPECTED_BY_NOTHING)
        printer_write(printer, ": the map was not tried");
}

struct part {
    uint64_t weight;
    const char *text, *means;
};

enum { SORTS = 3, PARTS = 3 };

/* "20.0% inferred (15.0% seen at the same height, 5.0% never seen)", or "(never seen)" if it has only one part. */
static void write_sort(struct printer *printer, uint64_t weight, const struct part *sort,
                       const struct part *parts)
{
    char share[SHARE_SIZE];
    const char *between = " (";
    printer_write(printer, "%s %s", share_format(share, sort->weight, weight), sort->text);
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].weight == 0)
            continue;
        printer_write(printer, "%s", between);
        if (parts[i].weight < sort->weight)
            printer_write(printer, "%s ", share_format(share, parts[i].weight, weight));
        printer_write(printer, "%s", parts[i].text);
        between = ", ";
    }
    printer_write(printer, *between == ',' ? ")" : "");
}

void heading_paths_write(struct printer *printer, const struct view_heading *h, bool explain)
{
    const struct part sorts[SORTS] = {
        {h->proved, "proved", NULL}, {h->inferred, "inferred", NULL}, {h->unknown, "unknown", NULL}};
    const struct part parts[SORTS][PARTS] = {
        {{h->verified, "verified", "each return address on the stack was that of a stack unwound before"},
         {h->unwound, "unwound", "the sample's own stack was copied and unwound"},
         {h->chains, "by call chains", "the sample has its callers' addresses, and each call was checked"}},
        {{h->compared, "compared in part",
          "some of the return addresses, or the depth alone, were those of a stack unwound before"},
         {h->seen, "seen at the same height",
          "other samples, or a map, have paths to the same function with as deep a stack"},
         {h->stored ? 0 : h->inferred - h->compared - h->seen, "never seen",
          "put together of calls that other samples or the code have"}}};
    char share[SHARE_SIZE];
    printer_write(printer, "paths:    ");
    for (int s = 0; s < SORTS; s++) {
        printer_write(printer, s ? ", " : "");
        write_sort(printer, h->weight, &sorts[s], parts[s]);
    }
    write_reasons(printer, h);
    write_expected(printer, h);
    printer_write(printer, "\n");
    if (h->partial > 0)
        printer_write(printer,
                      "partial:  %s of the weight has its innermost callers alone, below a root in brackets "
                      "that says why\n",
                      share_format(share, h->partial, h->weight));
    for (int i = 0; i < SORTS * PARTS && explain; i++) {
        const struct part *part = &parts[i / PARTS][i % PARTS];
        if (part->weight > 0)
            printer_write(printer, "          %s: %s\n", part->text, part->means);
    }
    if (h->returned > 0 && explain)
        printer_write(
            printer,
            "          not compared: %s, of precise samples whose function may have returned before "
            "their stack could be read\n",
            share_format(share, h->returned, h->weight));
}
