/*
 * trial.h - the checks of `fathom doctor --hardware`: each is a recording of a workload within this program
 * (workload.h), and a judgement of what the recording has, which is known beforehand.
 *
 * What needs no counters stands in for what does, so that each way is gone on every machine: a clock for cycles, page
 * faults for misses.
 */
#ifndef FATHOM_API_DOCTOR_TRIAL_H
#define FATHOM_API_DOCTOR_TRIAL_H

#include "api/doctor/doctor.h"
#include "api/doctor/workload.h"

/* What must be there. */
enum trial_need {
    TRIAL_NEEDS_PROGRAM = 1,  /* the BPF program that compares stacks */
    TRIAL_NEEDS_COUNTERS = 2, /* cycles can be sampled */
    TRIAL_NEEDS_PEBS = 4,
    TRIAL_NEEDS_BATCHES = 8, /* large PEBS, of the event or, without one, the default one */
};

/* What a recording has. */
struct trial_seen {
    unsigned precise; /* level of the event */
    uint64_t samples;
    bool counted;        /* whether interrupts are known */
    uint64_t interrupts; /* of counters, on all CPUs, while it was made */
    uint64_t timed;      /* samples with another time than the one before */
    /* FATHOM_WORKLOAD_CALLS: samples by the function that the paths of the workload's own functions end in */
    uint64_t steps, proved;         /* in the function that both ways call; of those, with a proved path */
    uint64_t by_way[WORKLOAD_WAYS]; /* of those, by the caller */
    uint64_t astray;                /* proved, by a path that the workload never takes */
    /* FATHOM_WORKLOAD_MEMORY */
    uint64_t addressed; /* samples with an address in its memory */
    uint64_t slow;      /* with a latency of at least `latency` */
};

enum trial_state { TRIAL_RIGHT, TRIAL_WRONG, TRIAL_ABSENT, TRIAL_STATES };
extern const char *const trial_states[TRIAL_STATES]; /* "right", "wrong", "not available here" */

struct trial_verdict {
    enum trial_state state;
    char why[400]; /* what was seen */
};

struct hardware_trial {
    const char *id, *title;
    const char *const *arguments; /* of fathom: a sub-command and its options; ends with NULL */
    const char *event;            /* an alias that the CPU may not have; NULL: none */
    enum fathom_workload workload;
    unsigned needs;   /* enum trial_need */
    uint64_t latency; /* cycles: what the event has at least; 0: none */
    void (*judge)(const struct hardware_trial *trial, const struct trial_seen *seen,
                  struct trial_verdict *out);
    const char *right; /* what output is right */
};

extern const struct hardware_trial hardware_trials[];
extern const size_t trial_count;

/* Why a check is impossible on a machine: static text. NULL: it is possible. */
const char *trial_absent(const struct hardware_trial *trial, const struct doctor_machine *machine,
                         const struct pmus *pmus);

/* Interrupts of counters since the machine was started, of all CPUs (the row PMI of /proc/interrupts). false: not known. */
bool trial_interrupts(const struct fact_places *places, uint64_t *out);
/* Reads what a recording of the workload has. memory: where FATHOM_WORKLOAD_MEMORY's is. */
struct trial_memory {
    uint64_t start, size;
};
int trial_read(const struct hardware_trial *trial, const char *recording, const struct trial_memory *memory,
               struct trial_seen *out, struct fathom_error *err);

#endif
