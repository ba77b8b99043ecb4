/*
 * view.h - a profile's contexts as text, in one of a table of views.
 *
 * A view writes to the given FILE and decides nothing about terminals: colour is an option. Trees may have
 * any depth. Percentages are of the whole tree's weight; "100.0%" is all of it and "<0.1%" is not zero. A
 * context's error is shown after its own share: "12.3% +-0.4". Equal trees give equal text, regardless of the
 * order in which they were built.
 *
 * Errors: -ENOMEM; the errno of a failed write; -ERANGE: an item that is not in the frame table.
 */
#ifndef FATHOM_REPORT_VIEWS_VIEW_H
#define FATHOM_REPORT_VIEWS_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/contexts.h"
#include "profile/process_shares.h"
#include "report/views/inferences.h"

struct drawing;
struct script_fields;
struct annotate_options;
struct image_cache;
struct phasing_options;

#define LISTED_DEFAULT                                                                                       \
    100 /* of recordings of sqlite3 and python3, 93% and 96% of the samples: 350 and 470 KB of a page */

#define UNINLINED_NAMED 8
#define PROCESSES_NAMED 4

struct view {
    const char *name;
    int (*write)(const struct drawing *drawing, struct fathom_error *err);
    bool locks;    /* of waits: paths must end in the lock that is waited for */
    bool wakers;   /* likewise: paths must go on with those who ended the wait */
    bool accesses; /* paths must end in the data that was accessed (framing.h) */
    bool folds;    /* shows the tree folded (fold.h) */
    bool levels;   /* shows the tree without functions: paths must begin with levels (profile/levels.h) */
    const char
        *not_of_calls; /* why it can only be of recordings; NULL: it is of calls (api/fathom/calls.h), too */
};

/* Ends with one without a name; the first is the default. */
extern const struct view view_table[];

struct view_options {
    const struct view *view; /* of the table; NULL: the default */

    double min_percent; /* leave out what weighs less (its weight stays in its parent's total) */
    unsigned max_rows;  /* the contexts with the most weight of their own to show, with the paths to them
                           (callers, flat: functions); 0: all */
    const struct script_fields *fields;      /* of each sample: export/script.h */
    const struct annotate_options *annotate; /* which function: annotate/choose.h */
    const struct phasing_options *phasing;   /* how phases are found: profile/phasing.h */
    struct image_cache *images;              /* of the samples; NULL: none */
    uint64_t inlined; /* KiB of debug information that may be read to find inlined ones (framing.h) */
    bool lines;    /* lines are wanted in paths; else those of scripts are for their annotated source alone */
    bool filtered; /* some samples may have been left out on purpose */
    bool colour;
    bool verbose; /* all of the heading, not only what was sampled, how sure the contexts are, and warnings */
    bool show_image;  /* the image's name beside each function; the flat view always has it */
    size_t width;     /* of a row, in columns: longer names are shortened; 0: any */
    unsigned listed;  /* functions whose code a page has; LISTED_DEFAULT */
    const char *unit; /* of the weight: "samples", "page-faults", WEIGHT_NS; NULL: not told */
    bool confidence;  /* tree and callers have a column of how sure each row is when any of them is less than
                         90%; this: always */
};

/* What tells how much of the weight that is not proved is on the right path. */
enum expected_by {
    EXPECTED_BY_RUN,     /* stacks of the run, that inference did not see */
    EXPECTED_BY_INPUTS,  /* those of the map's training predict each other so well */
    EXPECTED_BY_SLICES,  /* of the only one: it is no more than this */
    EXPECTED_BY_NOTHING, /* the map was not tried */
};
extern const char *const expected_names[]; /* "run", ... */

/* Of what service a profile is, and of when. */
struct view_resource {
    const char *service, *host, *build; /* build: the program's build-id, hexadecimal; "": unknown */
    uint64_t from, until;               /* ns since 1970 */
    uint64_t id;                        /* tells it from all others; not 0 */
};

/* The contents of the heading: weights by how sure the context is. */
struct view_heading {
    const char *command, *event, *map;    /* NULL: omitted */
    const struct view_resource *resource; /* NULL: not known */
    const char *stored;                   /* what of a store it is, and of when; NULL: of none */
    const char *other_events;             /* names of others that the recording has; NULL or "": none */
    unsigned kept;                        /* recordings whose maps were used in place of a given one */
    bool user_only;                       /* no sample was taken in the kernel */
    bool waits;                           /* samples are times without a CPU (perfdata/wait_reason.h) */
    bool allocations;                     /* samples are such (perfdata/heap_event.h) */
    bool wall;                            /* of waits, and those of a clock beside them */
    bool calls;               /* samples are calls, and weigh how long they take (perfdata/latency.h) */
    uint64_t samples, weight; /* weight = proved + inferred + unknown */
    uint64_t left_out;        /* weight that the options leave out of all */
    struct process_share
        processes[PROCESSES_NAMED];        /* the heaviest of the weight, by their names; borrowed */
    size_t process_count, other_processes; /* none: no such line */
    uint64_t proved, inferred, unknown;
    uint64_t partial; /* of what is proved or inferred: its outer part could not be read */
    struct {
        uint64_t precise, ambiguous, inferred;
    } kinds; /* what has a path, by what is known of its CID; only --format json tells it, until the next version */
    uint64_t unknown_by_reason[16];
    const char *const *reason_text; /* by the same index; reason_count of them */
    unsigned reason_count;
    double expected; /* weight expected on the right path by the probabilities */
    double expected_least,
        expected_most;            /* it is between these with 95% confidence; equal: nothing is told */
    enum expected_by expected_by; /* where the weight that is not proved is judged by */
    uint32_t expected_parts;      /* so many inputs */
    const char *training;         /* the command to train on, "" if unknown; NULL: no such line */
    uint64_t rests_on_inference;  /* weight whose paths that training would learn */
    bool followed;                /* stacks were compared with known ones while recording */
    uint64_t verified, unwound;   /* of what is proved: compared whole, or of its own stack */
    uint64_t chains;              /* ... of its own call chain */
    uint64_t compared;            /* of what is inferred: compared in part */
    uint64_t seen;                /* ... other samples, or a map, have the CID */
    uint64_t refused;             /* weight whose stack was not known, and not read */
    uint64_t returned; /* of precise samples whose function may have returned before it could be compared */
    uint64_t audit_samples;
    uint64_t audits_checked, audits_right; /* held back to check whether they are inferred right */
    struct inferences inferences;
    const char *const *unread; /* files whose code could not be read */
    size_t unread_count;
    /* Files of whose inlined functions none is shown, as their debug information is too large (framing_options.inlined): */
    const char *uninlined[UNINLINED_NAMED]; /* names of the first ones */
    size_t uninlined_count;
    uint64_t uninlined_bytes; /* of that information */
    const char *interpreter;  /* whose frames these are; NULL: of none */
    bool native;              /* functions that it runs were left out by an option */
    bool scripts_inlined;     /* what V8 runs is among them, without what it has inlined */
    bool scripts_apart;       /* what interpreters run was read at other instants than the samples' */
    bool other_event;         /* unwound stacks were sampled by time, unlike the event */
    bool foreign;             /* another tool's recording: has neither stack bases nor audit samples */
    uint64_t base_unknown;    /* weight on stacks whose base was not found */
    uint64_t bare;            /* weight recorded without registers */
    uint64_t lost, throttled, damaged;
    uint64_t unended;    /* calls of functions whose end was not seen */
    uint64_t unresolved; /* stacks that refer to records which are missing */
    uint64_t walks_compared,
        walks_differing;  /* stacks walked while recording and again here: all; otherwise */
    uint64_t lost_weight; /* estimated, of the event; not among `weight` */
    uint64_t counted;     /* by the event over the whole recording, in its unit; 0: unknown */
    uint64_t cpu_time;    /* of what was followed, ns, in the kernel too; 0: unknown */
    double counted_share; /* of the time in which it was enabled; 0: unknown */
    uint64_t
        intervals; /* of equal work, if the event was on in some only and is scaled by their phases; 0: it is not */
    uint64_t sampled;            /* of them: in which it was on */
    double covered;              /* ... share that is of phases of which one was sampled */
    uint64_t started, unsampled; /* threads that started while recorded, and those of them without a sample */
    bool by_thread;              /* events counted per thread rather than per CPU */
    bool truncated;
};

/* What is wrong with the records themselves, a sentence each, which a heading has among its warnings: `which` counts from 0 to
 * HEADING_FAULTS. false: there is none of this kind. */
#define HEADING_FAULTS     4
#define HEADING_FAULT_TEXT 256
bool view_heading_fault(const struct view_heading *heading, unsigned which, char text[HEADING_FAULT_TEXT]);
/* Where the weight that is not proved is judged by; EXPECTED_BY_RUN where so little is unsure that it does not matter. */
enum expected_by heading_expected_by(const struct view_heading *heading);
/* Ends with an empty line. Of the options only the unit and `verbose` are used. */
int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err);
/* Shows the weight alone of all metrics. */
int view_write(const struct contexts *contexts, const struct view_options *options, FILE *out,
               struct fathom_error *err);
/* Brendan Gregg's folded stacks, for flamegraph.pl: "main;run;memcpy 12" a line, in the order of their bytes
 * (LC_ALL=C sort). ';' in names becomes ':'; contexts of one text become one line. The weight alone of all
 * metrics. */
int folded_write(const struct contexts *contexts, FILE *out, struct fathom_error *err);

#endif
