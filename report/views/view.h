/*
 * view.h - a profile's contexts as text, in one of a table of views.
 *
 * A view writes to the given FILE and decides nothing about terminals: colour is an option. Trees may have
 * any depth. Percentages are of the whole tree's weight; "100.0%" is all of it and "<0.1%" is not zero. A
 * context's error is shown after its self share: "12.3% +-0.4". Equal trees give equal text, regardless of the
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
    100 /* covers 93% of samples of sqlite3 and 96% of python3, in 350 and 470 KB of a page */

#define UNINLINED_NAMED 8
#define PROCESSES_NAMED 4

struct view {
    const char *name;
    int (*write)(const struct drawing *drawing, struct fathom_error *err); /* views.h */
    bool locks;    /* needs waits, with paths that end in the lock waited for */
    bool wakers;   /* needs waits, with paths that continue with those who ended them */
    bool accesses; /* needs paths that end in the accessed data (framing.h) */
    bool folds;    /* shows the tree folded (views.h) */
    bool levels; /* shows the tree without functions; needs paths that begin with levels (profile/levels.h) */
    const char *not_of_calls; /* why it shows no calls (api/fathom/calls.h); NULL: it does */
};

/* The views: name, help for --help (NULL: the name says it), and the rest of a struct view. The first is the default. */
/* clang-format off */
#define VIEWS(ROW) \
    ROW("tree", "callers first", .write = tree_write, .folds = true) \
    ROW("callers", "hot functions first", .write = callers_write) \
    ROW("flat", NULL, .write = flat_write) \
    ROW("memory", "what was accessed, and where it was found", .write = memory_write, .accesses = true, \
        .not_of_calls = "calls access no data") \
    ROW("locks", "which are waited for", .write = locks_write, .locks = true, \
        .not_of_calls = "calls wait for nothing") \
    ROW("wakers", "who ended waits", .write = wakers_write, .wakers = true, \
        .not_of_calls = "calls wait for nothing") \
    ROW("groups", "who ran, without functions", .write = tree_write, .levels = true, \
        .not_of_calls = "calls are counted of all processes together")
/* clang-format on */
extern const struct view view_table[]; /* ends with an entry without a name */

struct view_options {
    const struct view *view; /* an entry of the table; NULL: the default */

    double min_percent; /* leave out what weighs less (its weight stays in its parent's total) */
    unsigned max_rows;  /* number of contexts to show, those with the most self weight, with their paths
                           (callers, flat: functions); 0: all */
    const struct script_fields *fields;      /* of samples: export/script.h */
    const struct annotate_options *annotate; /* which function: annotate/choose.h */
    const struct phasing_options *phasing;   /* how phases are found: profile/phasing.h */
    struct image_cache *images;              /* of the samples; NULL: none */
    uint64_t inlined; /* limit of debug information to read for inlined functions, KiB (framing.h) */
    bool lines;       /* show lines in paths; else lines of scripts are only for their annotated source */
    bool filtered;    /* some samples may have been left out on purpose */
    bool colour;
    bool verbose; /* the full heading, not only what was sampled, the certainty of contexts, and warnings */
    bool show_image;  /* the image's name beside each function; the flat view always has it */
    size_t width;     /* columns of a row, to which long names are shortened; 0: unlimited */
    unsigned listed;  /* number of functions whose code a page has; LISTED_DEFAULT */
    const char *unit; /* of the weight: "samples", "page-faults", WEIGHT_NS; NULL: unknown */
    bool confidence;  /* always show the column of certainty; else tree and callers show it only if a row has
                         less than 90% */
};

/* How the part of the inferred weight that is on the right path was estimated. */
enum expected_by {
    EXPECTED_BY_RUN,     /* by stacks of the run that were hidden from inference */
    EXPECTED_BY_INPUTS,  /* by how well the inputs of the map's training predict each other */
    EXPECTED_BY_SLICES,  /* by slices of the only input: an upper bound */
    EXPECTED_BY_NOTHING, /* not at all: the map was not tested */
};
extern const char *const expected_names[]; /* "run", ... */

/* The service and the time of a profile. */
struct view_resource {
    const char *service, *host, *build; /* build: the program's build-id, hexadecimal; "": unknown */
    uint64_t from, until;               /* ns since 1970 */
    uint64_t id;                        /* unique; not 0 */
};

/* The contents of the heading: mainly weights by the certainty of contexts. */
struct view_heading {
    const char *command, *event, *map;    /* NULL: omitted */
    const struct view_resource *resource; /* NULL: not known */
    const char *stored;       /* which part of a store it is, with the time; NULL: not from a store */
    const char *other_events; /* names of the recording's other events; NULL or "": none */
    unsigned kept;            /* number of recordings whose cached maps were used in place of a given map */
    bool user_only;           /* no sample was taken in the kernel */
    bool waits;               /* samples are times without a CPU (perfdata/wait_reason.h) */
    bool allocations;         /* samples are allocations (perfdata/heap_event.h) */
    bool wall;                /* samples are waits and those of a clock */
    bool calls;               /* samples are calls, weighed by their duration (perfdata/latency.h) */
    uint64_t samples, weight; /* weight = proved + inferred + unknown */
    uint64_t left_out;        /* weight that the options exclude */
    struct process_share processes[PROCESSES_NAMED]; /* the heaviest, by name; borrowed */
    size_t process_count, other_processes;           /* none: no such line */
    uint64_t proved, inferred, unknown;
    uint64_t partial; /* part of proved and inferred whose outer frames could not be read */
    struct {
        uint64_t precise, ambiguous, inferred;
    } kinds; /* weight with a path, by what is known of its CID; only in --format json, until the next version */
    uint64_t unknown_by_reason[16];
    const char *const *reason_text; /* by the same index; reason_count of them */
    unsigned reason_count;
    double expected;                      /* weight expected to be on the right path, by the probabilities */
    double expected_least, expected_most; /* 95% confidence range; both equal: unknown */
    enum expected_by expected_by;         /* how the weight that is not proved was judged */
    uint32_t expected_parts;              /* number of inputs */
    const char *training;                 /* the command to train on, "" if unknown; NULL: no such line */
    uint64_t rests_on_inference;          /* weight whose paths this training would learn */
    bool followed;                        /* stacks were compared with known ones while recording */
    uint64_t verified, unwound;           /* part of proved: compared completely; by the sample's own stack */
    uint64_t chains;                      /* ... by its own call chain */
    uint64_t compared;                    /* part of inferred: compared partly */
    uint64_t seen;                        /* ... other samples, or a map, have the CID */
    uint64_t refused;                     /* weight whose stack was unknown and not read */
    uint64_t
        returned; /* weight of precise samples whose function may have returned before it could be compared */
    uint64_t audit_samples;
    uint64_t audits_checked, audits_right; /* stacks held back to check that they are inferred correctly */
    struct inferences inferences;
    const char *const *unread; /* files whose code could not be read */
    size_t unread_count;
    /* Files without inlined functions, as their debug information is too large (framing_options.inlined): */
    const char *uninlined[UNINLINED_NAMED]; /* names of the first ones */
    size_t uninlined_count;
    uint64_t uninlined_bytes; /* size of that information */
    const char *interpreter;  /* whose frames are shown; NULL: none */
    bool native;              /* an option excludes functions that it runs */
    bool scripts_inlined;     /* V8's functions are shown, without those that it inlined */
    bool scripts_apart;       /* interpreters' functions were not read at the same instants as the samples */
    bool other_event;         /* unwound stacks were sampled by time, unlike the event */
    bool foreign;             /* another tool's recording: has neither stack bases nor audit samples */
    uint64_t base_unknown;    /* weight on stacks whose base was not found */
    uint64_t bare;            /* weight recorded without registers */
    uint64_t lost, throttled, damaged;
    uint64_t unended;    /* calls of functions whose end was not seen */
    uint64_t unresolved; /* stacks that refer to missing records */
    uint64_t walks_compared,
        walks_differing;  /* stacks walked while recording and again here: all; those with another result */
    uint64_t lost_weight; /* estimated, of the event; not included in `weight` */
    uint64_t counted;     /* by the event over the whole recording, in its unit; 0: unknown */
    uint64_t cpu_time;    /* of what was recorded, ns, in the kernel too; 0: unknown */
    double counted_share; /* of the time in which it was enabled; 0: unknown */
    uint64_t intervals; /* of equal work, if the event was on only in some and is scaled by phases; else 0 */
    uint64_t sampled;   /* intervals in which it was on */
    double covered;     /* share of intervals in phases that have a sampled one */
    uint64_t started,
        unsampled;  /* threads that started during the recording, and those of them without a sample */
    bool by_thread; /* events counted per thread rather than per CPU */
    bool truncated;
};

/* Writes a fault of the records themselves as a sentence, for the warnings of a heading. which: 0 to HEADING_FAULTS - 1. false: there
 * is no fault of this kind. */
#define HEADING_FAULTS     4
#define HEADING_FAULT_TEXT 256
bool view_heading_fault(const struct view_heading *heading, unsigned which, char text[HEADING_FAULT_TEXT]);
/* How the weight that is not proved was judged; EXPECTED_BY_RUN if so little is uncertain that it does not matter. */
enum expected_by heading_expected_by(const struct view_heading *heading);
/* Writes the heading and an empty line. Only the unit and `verbose` of the options are used. */
int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err);
/* Writes the view; of all metrics only the weight. */
int view_write(const struct contexts *contexts, const struct view_options *options, FILE *out,
               struct fathom_error *err);
/* Brendan Gregg's folded stacks, for flamegraph.pl: "main;run;memcpy 12" a line, in the order of their bytes
 * (LC_ALL=C sort). ';' in names becomes ':'; contexts with the same text become one line. Of all metrics
 * only the weight. */
int folded_write(const struct contexts *contexts, FILE *out, struct fathom_error *err);

#endif
