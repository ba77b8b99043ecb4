/*
 * learn.h - the first step of inference: enters stack dumps into a trie, and learns from them where stacks
 * begin. Takes records in time order, either from a file or live.
 */
#ifndef FATHOM_INFER_ENGINE_LEARN_H
#define FATHOM_INFER_ENGINE_LEARN_H

#include "base/hash.h"
#include "infer/bases/stack_bases.h"
#include "infer/engine/held_out.h"
#include "infer/samples/audits.h"
#include "infer/samples/code_places.h"
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
    bool hold_back;        /* some audit samples (all with LEARN_NOTHING) are not learned from (audits.h) */
    struct held_out *held; /* of a fold of cross-validation; NULL: nothing is held out */
    struct trie *trie;
    struct trainer *trainer;
    struct origins *origins;
    struct stack_bases *bases;
    struct audits *audits;
    struct table *ran; /* PIDs with samples */
    /* Nodes of the trie: the paths of all non-audit samples with a dump or an announced stack, in order; TRIE_NONE:
     * not unwound. */
    uint32_t *own;
    size_t own_count, own_room;
    struct code_places *code_places;
    struct table *numbers; /* of stacks that the recorder's program announced -> index into `announced` */
    struct announced_path {
        struct trainer_path path;
        uint64_t claims; /* samples taken for it since it was last checked */
        uint32_t code;   /* in `code_places` */
    } * announced;
    size_t announced_count, announced_room;
    /* Of the samples taken for an announced stack: those that a check stands for, and those for which it agreed. */
    uint64_t checked, agreed;
    double squares;                    /* sum over the checks of what each stands for, squared */
    bool base_unknown;                 /* some sample is on a stack whose base is not in the records */
    uint64_t learned;                  /* dumps that were entered */
    uint64_t not_learned[UNWIND_ENDS]; /* dumps that were not, by how unwinding ended; UNWIND_ROOT: a frame
                                          was in no known function */
};

struct learner *learner_new(enum learn_from from, bool hold_back); /* NULL: out of memory */
void learner_free(struct learner *learner);
/* Whether a sample has an entry in `own`. */
bool learner_has_own(const struct learner *learner, const struct sample *sample);
/* How probable it is that a stack which was not compared whole is the announced one, by those that were checked, and the range
 * of that: Wilson's of as many checks (Kish's effective size: each stands for the samples since the one before). */
struct learner_agreement {
    double right, least, most;
};
struct learner_agreement learner_agreement(const struct learner *learner);
/* Learns from one record and applies it to the processes. 0 or negative. */
int learner_take(struct learner *learner, struct processes *processes, const struct record *record,
                 struct fathom_error *err);

#endif
