/*
 * known_stack.h - a stack that was unwound, by what must be in place for its frames to be what they are.
 */
#ifndef FATHOM_PERFDATA_KNOWN_STACK_H
#define FATHOM_PERFDATA_KNOWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that unwinding depended on: the result is the same as long as it is one of `size` values from `low` on. A
 * return address may be any in the same function from which unwinding goes on in the same way. */
struct stack_word {
    uint64_t address, low;
    uint64_t value; /* what it was */
    uint32_t size;
    bool in_stack; /* the value is an address in this stack (a saved frame pointer), not a return address */
    bool is_bp;    /* of these, a saved BP */
};

/* Code of a file, in the process that a stack is of. */
struct stack_place {
    uint64_t start, end; /* addresses */
    uint64_t at;         /* where the file's offset 0 would lie */
    uint32_t number;     /* the recorder's, of the file and what of it is mapped so */
};

/* The one that an address lies in; NULL: none. */
static inline const struct stack_place *stack_place_of(const struct stack_place *places, size_t count,
                                                       uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address - places[i].start < places[i].end - places[i].start)
            return &places[i];
    return NULL;
}

/* In place of a version, which are odd: stacks of the record's number lie elsewhere in any process. */
#define KNOWN_STACK_ANY 2u

/* While all words are so, and the PC has the same CFA, a stack of a process with the same code has the same callers. */
struct known_stack {
    uint32_t space; /* of the processes with this code: infer/live/spaces.h */
    uint32_t tid;
    uint64_t ip, sp; /* of its sample */
    uint8_t reg;     /* 1 + place in a stack record of a register that must be the same, too; 0: none */
    uint64_t value;  /* of that */
    uint32_t number; /* of its stack record (stack_record.h) */
    bool of_caller;  /* that record is of a callee: this stack is its part from sp on */
    uint32_t
        switch_at; /* bytes from sp on after which its words are another stack's (stack_record.h); 0: none */
    uint32_t cut;  /* bytes of its copy from sp on, which ended before the stack did; 0: it did not */
    uint64_t code, code_size;       /* around ip, with the same CFA */
    uint64_t row, row_size;         /* around ip, of the same CFI row */
    const struct stack_word *words; /* borrowed; the innermost first */
    size_t count;
    /* Of all its code, at most STACK_PLACED_MAX: it can be known wherever these files are mapped; 0: only in its space. Borrowed */
    const struct stack_place *places;
    size_t place_count;
    uint64_t base; /* of the stack, as the record tells; 0: not */
    uint32_t
        version; /* of the process's mappings, likewise (stack_record.h, struct stack_code); or KNOWN_STACK_ANY */
    uint32_t inner; /* of a caller's: number of a record with its callee's frame; 0: its own */
};

#endif
