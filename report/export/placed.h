/*
 * placed.h - adds up samples with the same context, thread and certainty, for formats with labels. Private to report/export/.
 */
#ifndef FATHOM_REPORT_EXPORT_PLACED_H
#define FATHOM_REPORT_EXPORT_PLACED_H

#include "profile/contexts.h"

enum { PLACED_SURE_STEPS = 20 }; /* certainty from 0 to this */

struct placed {
    const struct cct_node *node;
    uint32_t thread;
    uint32_t place; /* as given by the caller: distinguishes samples of one context */
    uint16_t slice; /* the first time slice; */
    uint16_t span;  /* number of slices, which have equal weight */
    uint8_t sure;   /* 0 to PLACED_SURE_STEPS */
    uint8_t wait;   /* enum wait_reason; 0: not a wait */
};

struct placed_thread {
    uint32_t pid, tid;
    const char *comm; /* its last name */
};

struct placed_samples {
    struct placed *at;
    uint64_t *values; /* of all metrics, for each of them */
    size_t count;
    struct placed_thread *threads;
    size_t thread_count;
    uint32_t *thread_of;  /* thread of each of contexts->samples */
    uint64_t first, last; /* the time, ns */
};

struct placing {
    uint16_t slices;        /* number of slices of equal length, 1 to 65535 */
    const uint32_t *places; /* of each sample; NULL: all 0 */
    uint64_t first,
        last; /* the time range, ns, if longer than that of the samples; 0, 0: from the first to the last sample */
};

/* Whether samples were kept that last as long as they weigh: waits, or waits and a clock's samples (perfdata/wait_reason.h). */
bool placed_lasting(const struct contexts *contexts);
/* When a sample began, ns: its duration before its time, or its time if samples do not last. */
uint64_t placed_began(const struct contexts *contexts, size_t number);
/* contexts->samples must have been kept. The weight of a sample that lasts is divided among the slices it covers; its other metrics are in
 * the slice where it ends. A sample that stands for others begins no earlier than the thread's last one ended. -ENOMEM. */
int placed_add_up(const struct contexts *contexts, const struct placing *placing, struct placed_samples *out,
                  struct fathom_error *err);
/* The samples' numbers, sorted by thread, then by time; *begins: the index of each thread's first, and the end. The caller frees both.
 * NULL: out of memory. */
size_t *placed_by_thread(const struct placed_samples *placed, size_t count, size_t **begins);
void placed_clear(struct placed_samples *placed);

#endif
