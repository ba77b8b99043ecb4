/*
 * learn.h - the first step of inference: enters stack dumps into a trie, and learns from them where stacks
 * begin. Takes records in time order, either from a file or live.
 *
 * Some audit samples are held back: they are not learned from but resolved like the samples of the event, to measure how
 * often the answer is right.
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

/* Read by the later steps. */
struct learner {
    enum learn_from from;
    bool hold_back; /* some audit samples are held back; all with LEARN_NOTHING */
    const struct event *events;
    size_t event_count;
    uint32_t event; /* whose samples are not held back */
    uint64_t asked; /* audit samples that might have been */
    struct trie *trie;
    struct trainer *trainer;
    struct origins *origins;
    struct stack_bases *bases;
    struct table *ran; /* PIDs with samples */
    uint32_t *samples; /* by node of the trie: of this run, whose path it is */
    uint32_t sample_nodes, sample_capacity;
    uint32_t stacks, audit_stacks; /* read, of announced stacks and of audit samples */
    struct code_places *code_places;
    struct made_frames *made_frames;
    struct table *numbers; /* of stacks that the recorder's program announced -> index into `announced` */
    struct announced_path {
        struct trainer_path path;
        uint32_t stack;  /* its number, as in struct learned */
        uint64_t claims; /* samples taken for it since it was last checked */
        uint32_t code;   /* in `code_places` */
        uint32_t made;   /* in `made_frames` */
    } * announced;
    size_t announced_count, announced_capacity;
    /* Of the samples taken for an announced stack: those that a check stands for, and those for which it agreed. */
    uint64_t checked, agreed;
    double squares;    /* sum over the checks of what each stands for, squared */
    bool base_unknown; /* some sample is on a stack whose base is not in the records */
    uint64_t walks_compared,
        walks_differing;               /* stacks that were walked while recording and are here again: all;
                                                 those walked otherwise */
    struct unwind_frame *walked;       /* scratch for that; NULL: not needed yet */
    uint64_t learned;                  /* dumps that were entered */
    uint64_t not_learned[UNWIND_ENDS]; /* dumps that were not, by how unwinding ended; UNWIND_ROOT: a frame
                                          was in no known function */
};

struct learner *learner_new(enum learn_from from, bool hold_back); /* NULL: out of memory */
void learner_free(struct learner *learner);
/* Sets the recording's events (borrowed) and the one whose samples are not held back. Without them no sample is an audit. */
void learner_events(struct learner *learner, const struct event *events, size_t count, uint32_t event);
bool learner_is_audit(const struct learner *learner, const struct sample *sample);
/* Whether the recorder's program announced its stack first with this sample: there are its bytes or frames. */
bool learner_is_first(const struct sample *sample);
/* How probable it is that a stack which was not compared whole is the announced one, by those that were checked, and the range
 * of that: Wilson's of as many checks (Kish's effective size: each stands for the samples since the one before). */
struct learner_agreement {
    double right, least, most;
};
struct learner_agreement learner_agreement(const struct learner *learner);
/* Learns from one record and applies it to the processes. 0 or negative. */
#define AUDITS_FIRST 20u /* are never held back; after them, every tenth is */
int learner_take(struct learner *learner, struct processes *processes, const struct record *record,
                 struct learned *out, struct fathom_error *err);
/* The same, with the sample's leaf frame: what live and later reports go by alike. */
int learner_observe(struct learner *learner, struct processes *processes, const struct record *record,
                    struct observation *out, struct fathom_error *err);

#endif
