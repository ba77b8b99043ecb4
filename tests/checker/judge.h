/*
 * judge.h - whether a call path can be that of a sample.
 *
 * It can when (a) it begins at a root that the sample's thread can have, (b) all its functions are mapped in
 * the sample's process at that time, and (c) each of its steps is possible by the code (scene.h), or stands
 * in an unwound stack of the recording, or was seen by training.
 *
 * A root that the thread can have: for the first thread of a process what the program or its loader begins
 * with, or, after a fork, what the thread that forked began with; for other threads what the C library starts
 * threads with; for either one that an unwound stack of such a thread shows; and where the sample is not
 * known to run on the thread's own stack (coroutines, alternate signal stacks, clone) a function whose
 * address is taken.
 */
#ifndef FATHOM_TESTS_CHECKER_JUDGE_H
#define FATHOM_TESTS_CHECKER_JUDGE_H

#include "pathmap/map/pathmap.h"
#include "process/unwind.h"
#include "tests/checker/scene.h"

struct judge;

enum fault {
    FAULT_NONE,
    FAULT_ROOT,     /* the thread cannot begin with path[at] */
    FAULT_UNMAPPED, /* path[at] is not mapped there */
    FAULT_STEP,     /* path[at - 1] cannot call path[at] */
};

struct verdict {
    enum fault fault;
    size_t at;
};

struct judge *judge_new(void); /* NULL: out of memory */
void judge_free(struct judge *judge);
/* To be told of every record that is no sample, in order of time: which thread began how. 0 or -ENOMEM. */
int judge_apply(struct judge *judge, const struct record *record);
/* The true path of a sample that has a dump, from the root inwards; 0: its stack could not be unwound to the
 * root. *path is good until the next call. */
size_t judge_unwind(struct judge *judge, const struct process *process, const struct sample *sample,
                    const struct function **path);
/* Notes the root and the steps of an unwound stack: they are possible from now on. 0 or -ENOMEM. */
int judge_observe(struct judge *judge, const struct sample *sample, const struct function *path,
                  size_t depth);
/* A step that training saw. 0 or -ENOMEM. */
int judge_train(struct judge *judge, struct function caller, struct function callee);
/* 0 or -ENOMEM. */
int judge_path(struct judge *judge, const struct process *process, const struct sample *sample,
               const struct function *path, size_t depth, struct verdict *out);

#endif
