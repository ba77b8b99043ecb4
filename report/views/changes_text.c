/*
 * changes_text.c - the difference of two recordings as text: the paths as a tree, then the functions.
 *
 * It shows rows whose change is more than chance, and their callers; the latter without a number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/views/changes.h"
#include "base/sort.h"
#include "report/views/views.h"

enum { VALUE = 24, CHANGE = 56 }; /* sizes of texts */

struct text {
    const struct changes_report *report;
    struct printer *printer;
    int value_width, change_width;
};

static void format_value(const struct text *t, double value, char text[VALUE])
{
    if (t->report->changes->absolute) {
        weight_format(text, (uint64_t)value, t->report->unit);
        return;
    }
    const double whole = 1e12;
    share_format(text, value > 0 ? (uint64_t)fmax(1, value * whole) : 0, (uint64_t)whole);
}

/* Unclear changes are shown only if there are no others. */
static bool is_shown(const struct changes_report *r, const struct change *c)
{
    return c->called || (r->all && c->compared) || (c->unclear && !r->changes->called);
}

static void format_weights(const struct changes_report *r, const struct change *c, char text[CHANGE])
{
    char far[WEIGHT_SIZE], bound[WEIGHT_SIZE];
    weight_format(far, (uint64_t)fabs(c->b - c->a), r->unit);
    weight_format(bound, c->bound < 1e18 ? (uint64_t)c->bound : (uint64_t)1e18, r->unit);
    snprintf(text, CHANGE, "%c%s +-%s", c->b < c->a ? '-' : '+', far, bound);
}

/* "+3.1% +-0.8", with " ?" if it is unclear; empty for a row that shows no change. */
static void format_change(const struct text *t, const struct change *c, char text[CHANGE])
{
    double change = c->b - c->a;
    *text = 0;
    if (!is_shown(t->report, c) && !c->unclear)
        return;
    if (t->report->changes->absolute) {
        format_weights(t->report, c, text);
    } else {
        int decimals = fabs(change) < 0.00995 ? 2 : 1;
        snprintf(text, CHANGE, "%+.*f%% +-%.*f", decimals, 100 * change, decimals, 100 * fmin(c->bound, 1));
    }
    if (c->unclear) /* no bound, as it would say little */
        strcpy(strstr(text, " +-"), " ?");
}

/* Red for more, green for less. */
static const char *change_colour(const struct text *t, const struct change *c)
{
    return !t->report->colour || !c->called ? "" : c->b > c->a ? "\033[31m" : "\033[32m";
}

static void write_change(const struct text *t, const struct change *c)
{
    char a[VALUE], b[VALUE], change[CHANGE];
    const char *colour = change_colour(t, c);
    format_value(t, c->a, a);
    format_value(t, c->b, b);
    format_change(t, c, change);
    printer_write(t->printer, "%*s  %*s  %s%*s%s  ", t->value_width, a, t->value_width, b, colour,
                  t->change_width, change, *colour ? "\033[0m" : "");
}

/* Paths ---------------------------------------------------------------------------------------------------------- */

static void write_path(const struct drawing *drawing, const struct branch_row *row, const void *context)
{
    const struct text *t = context;
    (void)drawing;
    write_change(t, changes_path(t->report->changes, row->top->node));
}

static int write_tree(const struct text *t, struct fathom_error *err)
{
    const struct changes_report *r = t->report;
    const struct changes *changes = r->changes;
    struct branches b;
    int rc = changes_branches(changes, &b, err);
    if (rc < 0)
        return rc;
    size_t shown = 0;
    for (uint32_t i = b.count; i-- > 1;) { /* callees before their callers */
        bool own = is_shown(r, changes_path(changes, b.at[i].node));
        b.at[i].shown |= own;
        shown += own;
        if (b.at[i].shown)
            b.at[b.at[i].parent].shown = true;
    }
    struct view_options options = {.show_image = r->show_image, .width = r->width};
    struct contexts contexts = {.tree = changes->tree, .frames = changes->frames};
    struct drawing drawing = {.contexts = &contexts,
                              .branches = &b,
                              .frames = changes->frames,
                              .options = &options,
                              .unit = r->unit,
                              .printer = t->printer};
    if (shown) {
        printer_write(t->printer, "\n%*s  %*s  %*s  context\n", t->value_width, "A", t->value_width, "B",
                      t->change_width, "change");
        branches_draw(&drawing, &b, &(struct row_style){write_path, t, false});
    }
    branches_clear(&b);
    return 0;
}

/* Functions ------------------------------------------------------------------------------------------------------- */

/* By the change of the self weight, then by that of the total. */
static int compare_functions(const void *a, const void *b, void *context)
{
    const struct changes *changes = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double self_x = change_far(&changes->selves[x]), self_y = change_far(&changes->selves[y]);
    double total_x = change_far(&changes->totals[x]), total_y = change_far(&changes->totals[y]);
    return order_of(self_y, self_x) ?: order_of(total_y, total_x) ?: frame_compare(changes->frames, x, y);
}

static int write_functions(const struct text *t, struct fathom_error *err)
{
    const struct changes_report *r = t->report;
    const struct changes *changes = r->changes;
    uint32_t *items = malloc((frames_count(changes->frames) + 1ul) * sizeof *items), count = 0;
    if (!items)
        return error_memory(err);
    for (uint32_t i = 0; i < frames_count(changes->frames); i++)
        if (is_shown(r, &changes->selves[i]) || is_shown(r, &changes->totals[i]))
            items[count++] = i;
    qsort_r(items, count, sizeof *items, compare_functions, (void *)changes);
    if (count)
        printer_write(t->printer, "\n%*s  %*s  %*s  %*s  %*s  %*s  function\n", t->value_width, "self A",
                      t->value_width, "self B", t->change_width, "change", t->value_width, "total A",
                      t->value_width, "total B", t->change_width, "change");
    for (uint32_t i = 0; i < count; i++) {
        size_t began = t->printer->written, used;
        write_change(t, &changes->selves[items[i]]);
        write_change(t, &changes->totals[items[i]]);
        used = t->printer->written - began;
        frame_write(t->printer, frames_at(changes->frames, items[i]), r->show_image,
                    r->width == 0     ? 0
                    : used < r->width ? r->width - used
                                      : 1);
        printer_write(t->printer, "\n");
    }
    free(items);
    return 0;
}

/* The whole ------------------------------------------------------------------------------------------------------- */

/* Words of the text for what the sides consist of. */
static const struct words {
    const char *each, *samples; /* of a side; what has more samples if it is longer */
    const char *these;          /* what is compared, */
    const char *varies;         /* and what also varies between them */
    const char *more;           /* what makes smaller changes visible */
    const char *several;        /* what shows random variation; NULL: there cannot be several */
} words_of[] = {
    [CHANGES_RECORDINGS] = {"recordings", "recordings", "runs", " or from run to run",
                            "longer recordings, or three or more a side (A1,A2,A3 B1,B2,B3), tell",
                            "recordings differ so; what changes from run to run is told by three or more a "
                            "side (A1,A2,A3 B1,B2,B3)"},
    [CHANGES_HOSTS] = {"hosts", "a time", "hosts", " or from host to host",
                       "a longer time, or three or more hosts a side, tell",
                       "hosts differ so; what changes from host to host is told by three or more a side"},
    [CHANGES_PHASES] = {"phases", "a recording", "phases", "", "a longer recording tells", NULL},
};

static const struct words *words(const struct text *t)
{
    return &words_of[t->report->of];
}

static void write_side(const struct text *t, unsigned number)
{
    const struct difference_side *side = &t->report->changes->sides[number];
    char weight[WEIGHT_SIZE], share[SHARE_SIZE];
    printer_write(t->printer, "%c  ", "AB"[number]);
    printer_foreign(t->printer, t->report->names[number]);
    printer_write(t->printer, ": ");
    if (side->recordings > 1)
        printer_write(t->printer, "%zu %s, ", side->recordings, words(t)->each);
    if (side->samples)
        printer_write(t->printer, "%llu samples, ", (unsigned long long)side->samples);
    printer_write(t->printer, "%s", weight_format(weight, side->weight, t->report->unit));
    if (strcmp(t->report->unit, WEIGHT_NS) != 0) {
        printer_write(t->printer, " ");
        printer_foreign(t->printer, t->report->unit);
    }
    if (side->unknown)
        printer_write(t->printer, "; %s of it without a context",
                      share_format(share, side->unknown, side->weight));
    printer_write(t->printer, "\n");
}

/* "takes 5 recordings a side, or recordings 4 times as long". */
static void write_need(const struct text *t, const struct change *c)
{
    bool several = words(t)->several && isfinite(c->recordings), longer = isfinite(c->longer);
    printer_write(t->printer, " takes ");
    if (several)
        printer_write(t->printer, "%.0f %s a side%s", c->recordings, words(t)->each, longer ? ", or " : "");
    if (longer)
        printer_write(t->printer, "%s %.0f times as long", words(t)->samples, c->longer);
    if (!several && !longer && words(t)->several)
        printer_write(t->printer, "more than thousands of %s", words(t)->each);
    else if (!several && !longer)
        printer_write(t->printer, "more than any recording has");
    printer_write(t->printer, "\n");
}

/* Writes the weights themselves: a change of the whole weight does not show in shares of it. */
static void write_whole(const struct text *t)
{
    const struct changes_report *r = t->report;
    const struct change *c = &r->changes->whole;
    char change[CHANGE], sampling[WEIGHT_SIZE];
    if (!c->compared || c->a == c->b)
        return;
    if (c->called || c->unclear)
        printer_write(t->printer, "B has %.2f times the weight of A: ", c->b / c->a);
    else
        printer_write(t->printer, "the weights differ by no more than chance: ");
    format_weights(r, c, change);
    if (!c->unclear) {
        printer_write(t->printer, "%s%s\n", change,
                      c->called && !r->changes->absolute ? " (--absolute shows where)" : "");
        return;
    }
    *strstr(change, " +-") = 0;
    weight_format(sampling, (uint64_t)c->sampling, r->unit);
    printer_write(t->printer,
                  "%s, of which sampling explains %s at most%s;\nhow much %s differ by chance, these %s "
                  "cannot tell; that",
                  change, sampling, r->changes->absolute ? "" : " (--absolute shows where)", words(t)->these,
                  words(t)->each);
    write_need(t, c);
}

/* The largest unclear change; NULL: none. */
static const struct change *largest_unclear(const struct changes *changes)
{
    const struct change *found = NULL, *tables[] = {changes->paths, changes->selves, changes->totals};
    size_t counts[] = {cct_count(changes->tree), frames_count(changes->frames),
                       frames_count(changes->frames)};
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < counts[t]; i++) {
            const struct change *c = &tables[t][i];
            if (c->unclear && (!found || change_far(c) > change_far(found)))
                found = c;
        }
    return found;
}

static void write_unclear(const struct text *t)
{
    const struct changes *changes = t->report->changes;
    const struct change *largest = largest_unclear(changes);
    if (!largest)
        return;
    printer_write(t->printer,
                  "%zu %s%s changed by more than sampling explains, but these %s cannot tell whether that is "
                  "chance:\nwhat varies over time%s can be as much; to tell the largest",
                  changes->unclear, changes->unclear == 1 ? "row" : "rows",
                  is_shown(t->report, largest) ? " with ?" : " (--all shows them)", words(t)->each,
                  words(t)->varies);
    write_need(t, largest);
}

/* Writes how large an undetected change can be. */
static void write_hidden(const struct text *t)
{
    const struct changes *changes = t->report->changes;
    struct change hidden = {0};
    char bound[WEIGHT_SIZE];
    for (size_t i = 0; i < cct_count(changes->tree); i++)
        hidden.bound = fmax(hidden.bound, changes->paths[i].bound);
    for (uint32_t i = 0; i < frames_count(changes->frames); i++)
        hidden.bound = fmax(hidden.bound, fmax(changes->selves[i].bound, changes->totals[i].bound));
    if (changes->absolute)
        weight_format(bound, (uint64_t)fmin(hidden.bound, 1e18), t->report->unit);
    else
        snprintf(bound, sizeof bound, "%.1f%% of the weight", 100 * fmin(hidden.bound, 1));
    printer_write(t->printer, "one of up to %s would not be seen; %s smaller ones\n", bound, words(t)->more);
}

static void write_rest(const struct text *t)
{
    const struct changes *changes = t->report->changes;
    size_t called = changes->called, rest = changes->compared - called - changes->unclear;
    bool sampled = changes->sides[0].samples;
    if (called + changes->unclear == 0) {
        printer_write(t->printer, "\nno change is more than chance (%zu %s compared%s)\n", rest,
                      rest == 1 ? "row was" : "rows were", t->report->all ? "" : "; --all shows them");
        if (sampled && rest)
            write_hidden(t);
    } else if (rest) {
        printer_write(t->printer, "\n%s%zu%s changed by no more than chance%s\n", called ? "... " : "", rest,
                      called      ? rest == 1 ? " more row" : " more rows"
                      : rest == 1 ? " row"
                                  : " rows",
                      t->report->all ? "" : " (--all shows them)");
    } else if (changes->unclear || sampled) {
        printer_write(t->printer, "\n");
    }
    write_unclear(t);
    if (words(t)->several && sampled && changes->sides[0].recordings + changes->sides[1].recordings == 2 &&
        (called || changes->whole.called))
        printer_write(t->printer, "these two %s\n", words(t)->several);
}

int changes_text_write(const struct changes_report *report, FILE *out, struct fathom_error *err)
{
    const struct changes *changes = report->changes;
    struct printer printer = {.out = out};
    struct text t = {report, &printer, 7, 13};
    if (changes->absolute) {
        const struct change *whole = &changes->paths[0];
        t.value_width = weight_width((uint64_t)fmax(whole->a, whole->b), report->unit);
        t.change_width = 2 * t.value_width + 4;
    }
    write_side(&t, 0);
    write_side(&t, 1);
    write_whole(&t);
    int rc = write_tree(&t, err);
    if (rc == 0)
        rc = write_functions(&t, err);
    if (rc < 0)
        return rc;
    write_rest(&t);
    return printer_finish(&printer, err);
}
