/*
 * placed.h - samples of one context, thread and certainty, added up: what formats with labels need of them. Private to
 * report/export/.
 */
#ifndef FATHOM_REPORT_EXPORT_PLACED_H
#define FATHOM_REPORT_EXPORT_PLACED_H

#include "profile/contexts.h"

enum { PLACED_SURE_STEPS = 20 }; /* certainty from 0 to this */

struct placed {
    const struct cct_node *node;
    uint32_t thread;
    uint32_t place; /* as given: parts what is of one context */
    uint16_t slice; /* of the time: the first of */
    uint16_t span;  /* so many, each of which has as much of the weight as the others */
    uint8_t sure;   /* 0 to PLACED_SURE_STEPS */
    uint8_t wait;   /* enum wait_reason; 0: it is no wait */
};

struct placed_thread {
    uint32_t pid, tid;
    const char *comm; /* its last name */
};

struct placed_samples {
    struct placed *at;
    uint64_t *values; /* of each: of all metrics */
    size_t count;
    struct placed_thread *threads;
    size_t thread_count;
    uint32_t *thread_of;  /* of each of contexts->samples: its thread */
    uint64_t first, last; /* the time, ns */
};

struct placing {
    uint16_t slices;        /* into how many parts of equal length the time is cut, 1 to 65535 */
    const uint32_t *places; /* of each sample; NULL: all 0 */
    uint64_t first,
        last; /* the time, ns, if there is more of it than samples; 0, 0: from the first to the last of them */
};

/* Whether samples were kept that took the time that they weigh: waits, or these and a clock's (perfdata/wait_reason.h). */
bool placed_lasting(const struct contexts *contexts);
/* When a sample began, ns: if they last, so long before its time; else then. */
uint64_t placed_began(const struct contexts *contexts, size_t number);
/* contexts->samples must have been kept. One that lasts is in the slices of its time, with the part of its weight that lies in them; other metrics are where it
 * ends. One that stands for others begins no earlier than the thread's last one ended. -ENOMEM. */
int placed_add_up(const struct contexts *contexts, const struct placing *placing, struct placed_samples *out,
                  struct fathom_error *err);
/* The numbers of the samples, by thread and then in time; *begins: where each thread's begin, and the end. Both are the
 * caller's. NULL: out of memory. */
size_t *placed_by_thread(const struct placed_samples *placed, size_t count, size_t **begins);
void placed_clear(struct placed_samples *placed);

#endif
