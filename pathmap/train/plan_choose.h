/* plan_choose.h - chooses how the entry of one function is hooked. Private to the plan builder. */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_CHOOSE_H
#define FATHOM_PATHMAP_TRAIN_PLAN_CHOOSE_H

#include "pathmap/train/plan_code.h"
#include "pathmap/train/plan_displace.h"

struct plan_site {
    uint64_t function, address; /* as in struct plan_hook */
    uint32_t size;              /* of the function */
    enum plan_kind kind;
    bool loops; /* PLAN_LOOPS */
    unsigned original_length;
    uint64_t next;  /* address behind them; what they displace may be less */
    unsigned count; /* of insns to displace */
    struct insn insns[DISPLACED_MAX];
};

/* Chooses the best kind, from `from` on. PLAN_PAD means that two bytes suffice, not that there is a pad.
 * Returns NULL and fills *out, or the reason why the function cannot be hooked. */
const char *plan_choose(const struct plan_code *code, uint32_t function, enum plan_kind from,
                        struct plan_site *out);

#endif
