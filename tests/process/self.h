/*
 * self.h - the test program as its own subject: its mappings as records, its registers and stack as samples.
 */
#ifndef FATHOM_TESTS_PROCESS_SELF_H
#define FATHOM_TESTS_PROCESS_SELF_H

#include <stdlib.h>
#include <ucontext.h>

#include "process/process.h"

struct self {
    struct image_cache *images;
    struct processes *processes;
    struct process *process;
    uint64_t start_stack; /* SP with which the kernel started this program */
};

/* Feeds the executable mappings of /proc/self/maps. Aborts when something is missing. */
struct self self_open(void);
void self_close(struct self *self);

uint32_t self_tid(void);
/* Makes the main thread's stack known. */
void self_set_stack(struct self *self);

/* A sample of this process with these registers and no dump. */
struct sample self_sample(uint64_t pc, uint64_t sp, uint64_t bp);
struct sample self_sample_of_context(const ucontext_t *context);
/* Copies the stack from the sample's SP on, at most room bytes, into dump, and makes it the sample's. It ends
 * where the mapping does. */
void self_dump(struct sample *sample, void *dump, size_t capacity);

/* A sample of the place where this stands, with its dump. */
#define SELF_CAPTURE(sample, dump, capacity)                                                                 \
    do {                                                                                                     \
        uint64_t pc_, sp_, bp_;                                                                              \
        __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"                                \
                         : "=&r"(pc_), "=&r"(sp_), "=&r"(bp_));                                              \
        *(sample) = self_sample(pc_, sp_, bp_);                                                              \
        self_dump(sample, dump, capacity);                                                                   \
    } while (0)

#endif
