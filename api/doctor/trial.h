/*
 * trial.h - the checks of `fathom doctor --hardware`: each records a workload that is part of this program (workload.h), and compares the
 * recording with what is known beforehand.
 *
 * Some checks use a clock instead of cycles, or page faults instead of misses, so that each kind of check also runs on machines without
 * counters.
 */
#ifndef FATHOM_API_DOCTOR_TRIAL_H
#define FATHOM_API_DOCTOR_TRIAL_H

#include "api/doctor/doctor.h"
#include "api/doctor/workload.h"

/* What a check requires. */
enum trial_need {
    TRIAL_NEEDS_PROGRAM = 1,  /* the BPF program that compares stacks */
    TRIAL_NEEDS_COUNTERS = 2, /* cycles can be sampled */
    TRIAL_NEEDS_PEBS = 4,
    TRIAL_NEEDS_BATCHES = 8, /* large PEBS for `event`, or if that is NULL for the default event */
};

/* Figures of a recording. */
struct trial_seen {
    unsigned precise; /* level of the event */
    uint64_t samples;
    bool counted;        /* whether interrupts are known */
    uint64_t interrupts; /* of counters, on all CPUs, during the recording */
    uint64_t timed;      /* samples whose time differs from the previous one's */
    /* FATHOM_WORKLOAD_CALLS */
    uint64_t steps, proved; /* samples in the function that both ways call; those with a proved path */
    uint64_t by_way[WORKLOAD_WAYS]; /* of the proved ones, by caller */
    uint64_t astray;                /* samples with a proved path that the workload never takes */
    /* FATHOM_WORKLOAD_MEMORY */
    uint64_t addressed; /* samples with an address in its memory */
    uint64_t slow;      /* samples with at least the trial's `latency` */
};

enum trial_state { TRIAL_RIGHT, TRIAL_WRONG, TRIAL_ABSENT, TRIAL_STATES };
extern const char *const trial_states[TRIAL_STATES]; /* "right", "wrong", "not available here" */

struct trial_verdict {
    enum trial_state state;
    char why[400]; /* the observed figures, or the reason */
};

struct hardware_trial {
    const char *id, *title;
    const char *const *arguments; /* of fathom: a sub-command and its options; ends with NULL */
    const char *event;            /* an alias that the CPU may lack; NULL: none */
    enum fathom_workload workload;
    unsigned needs;   /* enum trial_need */
    uint64_t latency; /* minimum latency of the event, cycles; 0: none */
    void (*judge)(const struct hardware_trial *trial, const struct trial_seen *seen,
                  struct trial_verdict *out);
    const char *right; /* describes the right outcome */
};

extern const struct hardware_trial hardware_trials[];
extern const size_t trial_count;

/* Why a check is impossible on a machine: static text. NULL: it is possible. */
const char *trial_absent(const struct hardware_trial *trial, const struct doctor_machine *machine,
                         const struct pmus *pmus);

/* Interrupts of counters on all CPUs since boot (row PMI of /proc/interrupts). false: unknown. */
bool trial_interrupts(const struct fact_places *places, uint64_t *out);
/* The memory of FATHOM_WORKLOAD_MEMORY. */
struct trial_memory {
    uint64_t start, size;
};
/* Reads the figures of a recording of the workload. self: this program's file. */
int trial_read(const struct hardware_trial *trial, const char *recording, const char *self,
               const struct trial_memory *memory, struct trial_seen *out, struct fathom_error *err);

#endif
