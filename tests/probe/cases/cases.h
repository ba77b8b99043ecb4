/*
 * cases.h - programs whose calls are known to the last: "NAME CASE [ARGUMENT]" runs one case, by way of
 * main() in cases.c. tests/probe/cases.test builds them with several compilers, with and without
 * optimisation, and has the tree of each case.
 *
 * Functions are no static ones: the witness names them by the dynamic symbol table (-rdynamic).
 */
#ifndef FATHOM_TESTS_PROBE_CASES_H
#define FATHOM_TESTS_PROBE_CASES_H

#include "tests/programs/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct known_case {
    const char *name;
    int (*run)(const char *argument); /* the exit status */
};

/* Each program's own; ends with a name of NULL. */
extern const struct known_case cases[];

/* Prints "witness BYTES f;g": the program's functions that are active, from main or the first of the stack
 * on, as libgcc's unwinder finds them ("?": in a part without a dynamic symbol, as .cold ones are), and how
 * far the last one's CFA lies below the first one's. And, on the main thread's stack, "base BYTES": how far
 * that of the first lies below where the stack began. */
void witness(void);

#ifdef __cplusplus
}
#endif

#endif
