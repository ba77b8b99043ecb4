/* checker.h - a file with moved functions while it is compared with the old one. Private to rewrite/move/. */
#ifndef FATHOM_REWRITE_MOVE_CHECKER_H
#define FATHOM_REWRITE_MOVE_CHECKER_H

#include "rewrite/move/work.h"

struct checker {
    const struct move_survey *survey;
    const struct move_plan *plan;
    const struct move_result *result;
    const struct image *after; /* the new file */
    struct move_unit unit;     /* the old function, */
    const struct move_function *function;
    uint32_t copy;          /* and which copy of it is compared */
    struct move_work calls; /* only the plan's calls, to look them up */
    const char *what;       /* the first difference, */
    uint64_t where;         /* at this address of the old file */
};

/* Notes a difference; returns false. */
bool checker_fail(struct checker *c, uint64_t where, const char *what);
/* Reads an instruction of the new file; NULL: there is none. */
const uint8_t *checker_read(const struct checker *c, uint64_t address, struct code_insn *insn);
/* Reads the instruction of the new file at `at` into *new: whether it does what instruction `i` of the old
 * function does, with the edits of the plan. What is added before and behind it is not compared. */
bool checker_compare(struct checker *c, uint32_t i, uint64_t at, struct code_insn *new);

/* Where pointers to the function at an address lead in the new file. */
uint64_t checker_address(const struct move_survey *survey, const struct move_result *result,
                         uint64_t address);
/* Whether all pointers to functions do, in data, in code that stays, and by dynamic symbols. */
bool checker_addresses(struct checker *c);

#endif
