/* private.h - the steps that build an image's call graph; see calls.h. Private to image/. */
#ifndef FATHOM_IMAGE_CALLS_PRIVATE_H
#define FATHOM_IMAGE_CALLS_PRIVATE_H

#include "image/calls/calls.h"
#include "image/code/operands.h"
#include "image/elf/slots.h"
#include "image/frame_flow.h"
#include "image/function_code.h"
#include "image/image_private.h"

struct taken { /* the code of a function takes another's address */
    uint32_t by, function;
};

struct exported {
    uint64_t hash; /* of the name */
    const char *name;
    uint32_t function;
    bool resolver;
};

struct calls {
    const struct image *image;
    struct slots slots;
    uint32_t function_count;
    struct call_site *sites;
    size_t site_count, site_capacity;
    size_t *first;  /* index of each function's first site, plus one entry for the end */
    uint8_t *marks; /* MARK_*, one for each function */
    uint32_t *binders;
    size_t binder_count, binder_capacity;
    uint32_t *taken;
    size_t taken_count;
    struct taken *pairs; /* ascending */
    uint32_t *pair_functions;
    size_t pair_count, pair_capacity;
    const char **symbols;
    size_t symbol_count, symbol_capacity;
    struct call_table *tables;
    size_t table_count;
    uint32_t *table_functions;
    struct exported *exports; /* by the hash of their names, which are looked up in many images */
    size_t export_count;
    uint64_t *objects; /* addresses of data to which something points */
    size_t object_count, object_capacity;
    struct call_field *fields;
    size_t field_count;
};

enum {
    MARK_STUB = 1,      /* a PLT stub */
    MARK_TAKEN = 2,     /* its address is taken */
    MARK_RETURNS = 8,   /* it has a return or a tail jump */
    MARK_RESOLVER = 16, /* its address is taken only for the loader, to choose a function (IFUNC) */
    MARK_BINDER = 32,   /* calls_is_binder() */
    MARK_LABELS = 4,    /* pointers in data lead into its middle: computed jumps */
};

/* State while reading one function. */
struct calls_reader {
    struct calls *calls;
    uint32_t function;
    struct function_code code;
    struct frame_flow flow;
    struct operand *operands; /* of each indirect call and jump, in order */
    size_t operand_count, operand_capacity;
};

static inline bool calls_is_indirect(const struct code_insn *insn)
{
    return insn->kind == CODE_CALL_INDIRECT || insn->kind == CODE_JUMP_INDIRECT;
}

/* Marks stubs, and functions into whose middle data points. 0 or -ENOMEM. */
int calls_mark_functions(struct calls *calls);
/* The GOT slot through which a PLT stub jumps. */
bool calls_stub_slot(const struct calls *calls, uint32_t stub, uint64_t *slot);
/* Resolves operands, finds the jumps' tables, notes the addresses that the code takes. 0 or -ENOMEM. */
int calls_read_operands(struct calls_reader *r);
/* Reads the code of r->function, with all its parts by address, and adds its sites. 0 or -ENOMEM. */
int calls_read_function(struct calls_reader *r, const struct function_part *parts, uint32_t count);
/* Adds the function's sites. 0 or -ENOMEM. */
int calls_add_sites(struct calls_reader *r);
int calls_note_taken(struct calls *calls, uint32_t by, uint32_t function);
int calls_note_symbol(struct calls *calls, const char *symbol);
/* Notes that the code takes this address: a data object starts there, unless it is code. 0 or -ENOMEM. */
int calls_note_object(struct calls *calls, uint64_t address);
/* Marks functions whose address data or the loader take, then builds the returned lists. Call after all functions
 * were read. 0 or -ENOMEM. */
int calls_build_taken(struct calls *calls);
int calls_build_tables(struct calls *calls);
int calls_build_fields(struct calls *calls);  /* after calls_build_tables() */
int calls_build_exports(struct calls *calls); /* before calls_build_taken() */

#endif
