/*
 * snippets.h - the machine code that is put into the two versions of a function (Intel SDM, volume 2): checks, and what logs. See
 * wire.h for what it does.
 *
 * No scratch memory is used but the stack below the red zone, so signal handlers may run the same code between any two
 * instructions.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_SNIPPETS_H
#define FATHOM_REWRITE_DUPLICATE_SNIPPETS_H

#include "image/code/access.h"
#include "rewrite/move/move.h"

enum { COPY_CHECKING, COPY_INSTRUMENTED }; /* the copies */

#define SNIPPET_BYTES_MOST 128u
#define SNIPPET_FIXES_MOST 2u

struct snippet { /* one move_code, with room for what it points to */
    uint8_t bytes[SNIPPET_BYTES_MOST];
    struct move_code_fix fixes[SNIPPET_FIXES_MOST];
    uint8_t size, fix_count;
    uint8_t low_from, low_to;
    uint32_t low;
};

/* A check before the instruction at this address, which is to have one in both copies, first of its code. It changes flags. */
void snippet_check(struct snippet *code, uint64_t address, uint32_t copy);
/* Logs what the instruction at this address refers to (ref; NULL: only that it was executed), in the instrumented copy. `live`: as of
 * liveness.h. *slow: it must save registers on the stack. */
void snippet_log(struct snippet *code, uint64_t address, const struct access_ref *ref, uint32_t live,
                 bool *slow);

#endif
