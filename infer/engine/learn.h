/*
 * learn.h - the first step of inference: enters stack dumps into a trie, and learns from them where stacks begin. Takes records
 * in time order, from a file or live.
 *
 * Some audit samples are held back: they are not learned from but resolved like the samples of the event, to measure how often
 * the answer is right.
 */
#ifndef FATHOM_INFER_ENGINE_LEARN_H
#define FATHOM_INFER_ENGINE_LEARN_H

#include "base/hash.h"
#include "infer/bases/stack_bases.h"
#include "infer/samples/code_places.h"
#include "infer/samples/made_frames.h"
#include "infer/samples/observations.h"
#include "infer/samples/origins.h"
#include "infer/samples/trainer.h"

enum learn_from {
    LEARN_NOTHING, /* the map alone */
    LEARN_AUDITS,  /* the recording's audit samples too */
    LEARN_DUMPS,   /* every sample that has a stack dump */
};

/* The later steps read its members. */
struct learner {
    enum learn_from from;
    bool hold_back; /* some audit samples are held back; all with LEARN_NOTHING */
    const struct event *events;
    size_t event_count;
    uint32_t event;      /* the event whose samples are never held back */
    uint64_t considered; /* audit samples that were considered for holding back */
    struct trie *trie;
    struct trainer *trainer;
    struct origins *origins;
    struct stack_bases *bases;
    struct table *ran; /* PIDs with samples */
    uint32_t *samples; /* by node of the trie: samples of this run that have its path */
    uint32_t sample_nodes, sample_capacity;
    uint32_t stacks, audit_stacks; /* numbers of stacks read: announced ones, audit samples */
    struct code_places *code_places;
    struct made_frames *made_frames;
    struct table *numbers; /* number of an announced stack -> index in `announced` */
    struct announced_path {
        struct trainer_path path;
        uint32_t stack;  /* number, as in struct learned */
        uint64_t claims; /* samples that claimed this stack since its last check */
        uint32_t code;   /* index in `code_places` */
        uint32_t made;   /* index in `made_frames` */
    } * announced;
    size_t announced_count, announced_capacity;
    /* Samples that claimed an announced stack: how many the checks represent, and how many of these agreed. */
    uint64_t checked, agreed;
    double squares;    /* sum of the squared numbers of samples that each check represents */
    bool base_unknown; /* some sample is on a stack that has no base in the records */
    uint64_t walks_compared,
        walks_differing; /* stacks with both a walk by the recorder and a copy: all; those where the two differ */
    struct unwind_frame *walked; /* scratch for the comparison; NULL until needed */
    uint64_t learned;            /* dumps entered */
    uint64_t not_learned
        [UNWIND_ENDS]; /* dumps not entered, by how unwinding ended; UNWIND_ROOT: a frame is in no known
                                        * function */
};

struct learner *learner_new(enum learn_from from, bool hold_back); /* NULL: out of memory */
void learner_free(struct learner *learner);
/* Sets the recording's events (borrowed) and the one whose samples are not held back. Before this, no sample is an audit. */
void learner_events(struct learner *learner, const struct event *events, size_t count, uint32_t event);
bool learner_is_audit(const struct learner *learner, const struct sample *sample);
/* Whether the recorder announced this sample's stack for the first time, so that its bytes or frames are here. */
bool learner_is_first(const struct sample *sample);
/* The probability that a stack that was not compared as a whole is the announced one, and its bounds (Wilson), estimated from
 * the stacks that were checked. The sample size is Kish's effective one, as each check represents the samples since the one
 * before. */
struct learner_agreement {
    double right, least, most;
};
struct learner_agreement learner_agreement(const struct learner *learner);
/* Learns from one record and applies it to the processes. 0 or negative. */
#define AUDITS_FIRST 20u /* are never held back; of the rest every tenth is */
int learner_take(struct learner *learner, struct processes *processes, const struct record *record,
                 struct learned *out, struct fathom_error *err);
/* The same, with the sample's leaf frame: used both live and by later reports. */
int learner_observe(struct learner *learner, struct processes *processes, const struct record *record,
                    struct observation *out, struct fathom_error *err);

#endif
