/*
 * known_stacks.h - the stacks known to the BPF program: fills its maps `known`, `words` and `switches`
 * (rule.h), and removes entries when processes end or space runs out.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_KNOWN_STACKS_H
#define FATHOM_COLLECTOR_VERIFY_KNOWN_STACKS_H

#include "base/error.h"
#include "collector/verify/rule.h"
#include "image/go_stacks.h"
#include "perfdata/known_stack.h"

struct known_stacks;

/* The BPF program's maps, borrowed: file descriptors, or whatever find(), put() and drop() identify them
 * by. */
struct known_stacks_maps {
    int known, threads;
    int switches;             /* -1: the program cannot find threads' second stacks */
    struct rule_words *words; /* VERIFY_BLOCKS elements */
    /* Like libbpf's map functions: 0, or negative. */
    int (*find)(int map, const void *key, void *value);
    int (*put)(int map, const void *key, const void *value);
    int (*drop)(int map, const void *key);
};

/* compared, page_bits: as in stack_record.h. 0 or negative. */
int known_stacks_new(const struct known_stacks_maps *maps, unsigned compared, unsigned page_bits,
                     struct known_stacks **out);
void known_stacks_free(struct known_stacks *stacks);
/* As verify_know(), verify_stacks_are(), verify_forget() and verify_retract(). */
int known_stacks_add(struct known_stacks *stacks, const struct known_stack *stack, struct fathom_error *err);
bool known_stacks_switch(struct known_stacks *stacks, uint32_t space, const struct go_stacks *go,
                         uint64_t bias);
void known_stacks_forget(struct known_stacks *stacks, uint32_t space);
void known_stacks_retract(struct known_stacks *stacks, uint32_t number);

#endif
