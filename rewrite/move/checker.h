/* checker.h - the comparison of a file with moved functions with the old one. Private to rewrite/move/. */
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
    uint32_t copy;          /* number of the copy being compared */
    struct move_work calls; /* only the plan's calls, for look-ups */
    const char *what;       /* the first difference, */
    uint64_t where;         /* and its address in the old file */
};

/* Records the first difference; returns false. */
bool checker_fail(struct checker *c, uint64_t where, const char *what);
/* Reads an instruction of the new file; NULL: none. */
const uint8_t *checker_read(const struct checker *c, uint64_t address, struct code_insn *insn);
/* Reads the new file's instruction at `at` into *new, and compares it with instruction `i` of the old function
 * with the plan's edits. What is added before and behind it is not compared. */
bool checker_compare(struct checker *c, uint32_t i, uint64_t at, struct code_insn *new);

/* The new file's address for pointers to the function at an address. */
uint64_t checker_address(const struct move_survey *survey, const struct move_result *result,
                         uint64_t address);
/* Checks all pointers to functions: in data, in code that stays, and in dynamic symbols. */
bool checker_addresses(struct checker *c);

#endif
