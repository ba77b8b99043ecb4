/*
 * snippets.h - the machine code inserted into the two versions of a function (Intel SDM, volume 2): checks and
 * logging. wire.h describes what it does.
 *
 * The only scratch memory is the stack below the red zone, so signal handlers may run the same code between any
 * two instructions.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_SNIPPETS_H
#define FATHOM_REWRITE_DUPLICATE_SNIPPETS_H

#include "image/code/access.h"
#include "rewrite/move/move.h"

enum { COPY_CHECKING, COPY_INSTRUMENTED }; /* the copies */

#define SNIPPET_BYTES_MOST 128u
#define SNIPPET_FIXES_MOST 2u

struct snippet { /* a move_code, with the memory that it points to */
    uint8_t bytes[SNIPPET_BYTES_MOST];
    struct move_code_fix fixes[SNIPPET_FIXES_MOST];
    uint8_t size, fix_count;
    uint8_t low_from, low_to;
    uint32_t low;
};

/* A check before the instruction at this address, in both copies; it must come first among that instruction's
 * code. Changes flags. */
void snippet_check(struct snippet *code, uint64_t address, uint32_t copy);
/* Logs what the instruction at this address refers to (ref; NULL: only that it was executed), in the instrumented
 * copy. `live`: as in liveness.h. *slow: it must save registers on the stack. */
void snippet_log(struct snippet *code, uint64_t address, const struct access_ref *ref, uint32_t live,
                 bool *slow);

#endif
