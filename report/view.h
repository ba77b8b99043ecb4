/*
 * view.h - a calling-context tree as text: top-down tree, callers of hot functions, flat; and folded stacks.
 *
 * A view writes through the FILE handed in and decides nothing about terminals: colour is an option.
 */
#ifndef FATHOM_REPORT_VIEW_H
#define FATHOM_REPORT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "hcct/cct.h"
#include "report/frames.h"

enum view_kind { VIEW_TREE, VIEW_CALLERS, VIEW_FLAT };

struct view_options {
    enum view_kind kind;
    double min_percent; /* leave out what weighs less (its weight stays in its parent's total) */
    unsigned max_rows;  /* contexts (callers, flat: functions) to show at most; 0: all */
    bool colour;
    bool show_image;  /* the image's name beside each function */
    const char *unit; /* of the weight: "samples", "page-faults" */
};

/* What the heading tells: weights by how sure the context is. */
struct view_heading {
    const char *command, *event, *map; /* NULL: left out */
    uint64_t samples, weight;          /* weight = the sum of the next three */
    uint64_t precise, ambiguous, unknown;
    uint64_t unknown_by_reason[16];
    const char *const *reason_text; /* by the same index; reason_count of them */
    unsigned reason_count;
    uint64_t audit_samples;
    uint64_t lost, throttled, damaged;
    bool truncated;
};

int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err);
int view_write(struct cct *cct, const struct frames *frames, const struct view_options *options, FILE *out,
               struct fathom_error *err);
/* Brendan Gregg's folded stacks: "main;run;memcpy 12" a line, in order of the text. */
int folded_write(struct cct *cct, const struct frames *frames, FILE *out, struct fathom_error *err);

#endif
