/*
 * judge.h - judges whether a call path is possible for a sample.
 *
 * It is possible if (a) it begins at a root that the sample's thread can have, (b) all its functions are
 * mapped in the sample's process at that time, and (c) each of its steps is possible by the code (scene.h),
 * or occurs in an unwound stack of the recording, or was seen by training.
 *
 * The possible roots are: for the first thread of a process, the first functions of the program or its loader
 * or, after a fork, the root of the forking thread; for other threads, the functions with which the C library
 * starts threads; for either, a root in an unwound stack of such a thread; and if the sample is not known to
 * be on the thread's own stack (coroutines, alternate signal stacks, clone), a function whose address is
 * taken.
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
    FAULT_UNMAPPED, /* path[at] is not mapped in the process */
    FAULT_STEP,     /* path[at - 1] cannot call path[at] */
};

struct verdict {
    enum fault fault;
    size_t at;
};

struct judge *judge_new(void); /* NULL: out of memory */
void judge_free(struct judge *judge);
/* Call for every record other than samples, in time order, to track how threads start. 0 or -ENOMEM. */
int judge_apply(struct judge *judge, const struct record *record);
/* The true path of a sample that has a dump, from the root inwards; 0: its stack could not be unwound to the
 * root. *path is valid until the next call. */
size_t judge_unwind(struct judge *judge, const struct process *process, const struct sample *sample,
                    const struct function **path);
/* Notes the root and the steps of an unwound stack as possible: a root on a stack that belongs to no thread, for all of them.
 * 0 or -ENOMEM. */
int judge_observe(struct judge *judge, const struct process *process, const struct sample *sample,
                  const struct function *path, size_t depth);
/* Notes a step that training saw. 0 or -ENOMEM. */
int judge_train(struct judge *judge, struct function caller, struct function callee);
/* 0 or -ENOMEM. */
int judge_path(struct judge *judge, const struct process *process, const struct sample *sample,
               const struct function *path, size_t depth, struct verdict *out);

#endif
