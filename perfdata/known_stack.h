/* known_stack.h - a stack that was unwound, with everything that must be unchanged for its frames to be the same. */
#ifndef FATHOM_PERFDATA_KNOWN_STACK_H
#define FATHOM_PERFDATA_KNOWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that unwinding depended on: the result is the same as long as it is one of `size` values from `low` on. A return
 * address may be any in the same function from which unwinding continues in the same way. */
struct stack_word {
    uint64_t address, low;
    uint64_t value; /* its value in this stack */
    uint32_t size;
    bool in_stack; /* the value is an address in this stack (a saved frame pointer), not a return address */
    bool is_bp;    /* if so, a saved BP */
};

/* Code of a file, in the process that has the stack. */
struct stack_place {
    uint64_t start, end; /* range of addresses */
    uint64_t at;         /* address of the file's offset 0 */
    uint32_t number;     /* assigned by the recorder to the file and what of it is mapped at this distance */
};

/* The place that contains an address; NULL: none. */
static inline const struct stack_place *stack_place_of(const struct stack_place *places, size_t count,
                                                       uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address - places[i].start < places[i].end - places[i].start)
            return &places[i];
    return NULL;
}

/* In place of a version (versions are odd): stacks of the record's number are elsewhere in any process. */
#define KNOWN_STACK_ANY 2u

/* While all of its words are the same, and the PC has the same CFA, a stack of a process with the same code has the same
 * callers. */
struct known_stack {
    uint32_t space; /* number of the set of processes with this code (infer/live/spaces.h) */
    uint32_t tid;
    uint64_t ip, sp; /* of its sample */
    uint8_t reg;     /* 1 + index in a stack record of a register that must be the same, too; 0: none */
    uint64_t value;  /* of that register */
    uint32_t number; /* of its stack record (stack_record.h) */
    bool of_caller;  /* that record is a callee's: this stack is the part of it from sp on */
    /* bytes from sp on after which its words belong to another stack (stack_record.h); 0: none */
    uint32_t switch_at;
    uint32_t cut; /* bytes of its copy from sp on, if that ended before the stack did; 0: it did not */
    uint64_t code, code_size;       /* range around ip with the same CFA */
    uint64_t row, row_size;         /* range around ip of the same CFI row */
    const struct stack_word *words; /* borrowed; innermost first */
    size_t count;
    /* The places of all its code, at most STACK_PLACED_MAX, so that it is known wherever these files are mapped; 0: it is known
     * only in its space. Borrowed */
    const struct stack_place *places;
    size_t place_count;
    uint64_t base; /* of the stack, from the record; 0: unknown */
    /* of the process's mappings, from the record (stack_record.h, struct stack_code); or KNOWN_STACK_ANY */
    uint32_t version;
    uint32_t inner; /* for a caller's stack: number of a record with its callee's frame; 0: its own */
};

#endif
