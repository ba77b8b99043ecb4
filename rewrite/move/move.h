/*
 * move.h - emits whole functions of an ELF file anew, in an executable segment that is added to the file: their
 * frames can then grow by any amount, and a function can have several copies, each called from its own call
 * sites.
 *
 * The old entry becomes a jump to the first copy, so that pointers to the function remain valid; if all known
 * references can be changed, they refer to the copy itself (addresses.c). The rest of the old body is not
 * executed any more. All direct calls and jumps to the function are re-pointed, which costs no instruction. A
 * call through a pointer can be guarded (ICPP paper, section 5.3: devirtualization): if the pointer is a given
 * function, a copy of that is called directly. Unwind tables, jump tables, exception tables and symbols are added
 * for the new code; pointers into the middle of a function (computed gotos) are re-pointed by their relocations.
 * Code can be inserted before instructions, and may jump to the same place in another copy.
 *
 * A function that cannot be proved safe is left alone, with a reason. ICPP (OOPSLA 2009), section 5 (cloning).
 */
#ifndef FATHOM_REWRITE_MOVE_MOVE_H
#define FATHOM_REWRITE_MOVE_MOVE_H

#include "image/image.h"

enum move_refusal { /* why a function is left alone */
                    MOVE_MOVABLE,
                    MOVE_NOT_A_FUNCTION,
                    MOVE_NO_CFI,
                    MOVE_CFI_UNKNOWN,
                    MOVE_CODE_UNKNOWN,
                    MOVE_TOO_SHORT,
                    MOVE_ENTERED,
                    MOVE_POINTED,
                    MOVE_LABEL_TAKEN,
                    MOVE_JUMP_UNKNOWN,
                    MOVE_SIGNAL_FRAME,
                    MOVE_EXCEPTIONS,
                    MOVE_PROBE,
                    MOVE_LEAVES,
                    MOVE_CLONED_LABELS,
                    MOVE_EDIT,
                    MOVE_REFUSALS /* their number */
};

/* The reason as the end of a sentence: "it ..." */
const char *move_refusal_text(enum move_refusal refusal);

enum move_what {
    MOVE_DISPLACEMENT, /* the displacement of its memory operand becomes `value` */
    MOVE_IMMEDIATE,    /* its immediate becomes `value` */
    MOVE_LEA_BEFORE,   /* lea value(%rsp),%rsp is added before it; jumps to it execute that, too */
    MOVE_LEA_AFTER,    /* the same after it; executed only if control continues */
    MOVE_CFA_BEFORE,   /* as MOVE_CFA, and also while code added before it is executed */
    /* From it on, in the order of addresses and up to the next such edit, the CFA is `value` bytes further from
     * SP than in the file's CFI, where that gives it by SP. */
    MOVE_CFA,
    /* While it is executed, SP is `value` bytes lower than where its exceptions land: DW_CFA_GNU_args_size grows. */
    MOVE_ARGUMENTS,
};

/* A change of one instruction. Operands become as wide as necessary. */
struct move_edit {
    uint64_t address; /* of the instruction */
    int32_t value;    /* bytes */
    uint8_t what;     /* enum move_what */
};

enum move_code_target {
    MOVE_TO_BODY,   /* the instruction at `target`, in a copy, behind the code inserted before it */
    MOVE_TO_CODE,   /* that inserted code, `behind` bytes from its beginning */
    MOVE_TO_MEMORY, /* a memory address, which does not change */
};

/* A distance of four bytes in code inserted before an instruction. */
struct move_code_fix {
    uint8_t at;     /* offset in the code */
    uint8_t from;   /* offset from which the distance is measured: its instruction's end */
    uint8_t kind;   /* enum move_code_target */
    uint8_t behind; /* MOVE_TO_CODE: bytes */
    uint32_t copy;  /* of the same function */
    uint64_t target;
};

/* Code inserted before an instruction; jumps to the instruction execute it, too. It leaves SP unchanged, but may
 * lower it between two of its bytes. */
struct move_code {
    uint64_t address; /* of the instruction */
    const uint8_t *bytes;
    const struct move_code_fix *fixes;
    uint8_t size, fix_count;
    uint8_t low_from, low_to; /* offsets in the code between which SP is lower, */
    uint32_t low;             /* by so many bytes */
};

/* One copy of a function. Copies of the same function are numbered in the order of the list, from 0. */
struct move_function {
    uint64_t address;              /* of its entry */
    const struct move_edit *edits; /* ascending by address; include its .cold parts. Borrowed */
    size_t edit_count;
    const struct move_code *codes; /* the same; several for one instruction are in their order */
    size_t code_count;
    bool crosses; /* any copy may continue where the function jumps through pointers to its labels */
};

/* Which copy a direct call or jump goes to; 0 for those not listed. */
struct move_call {
    uint64_t site; /* address of the instruction in the original file */
    uint32_t in;   /* copy of the function with the call; 0 if that stays */
    uint32_t copy; /* of the called function */
    /* To skip a PLT stub: entry of the function behind it; 0: the callee stays the same. */
    uint64_t target;
};

#define MOVE_GUARDS_MOST 4u /* per call: jumps over guards have one byte of distance */

/* Before a call through a pointer: if the pointer is `target`, call its copy instead. */
struct move_guard {
    uint64_t site;   /* address of the call in the original file */
    uint64_t caller; /* entry of the function that contains it, which is moved */
    uint64_t target; /* entry of the called function */
    uint32_t in;     /* copy of the caller */
    uint32_t copy;   /* of the called function */
};

struct move_plan {
    const struct move_function *functions;
    size_t function_count;
    const struct move_call *calls;
    size_t call_count;
    const struct move_guard *guards;
    size_t guard_count;
    /* Code executed before all other code of the file (start.c), by the loader or as an entry point. It may
     * change only registers that functions may change, and not rdx; control continues behind its end. 0 bytes:
     * none. */
    const uint8_t *start;
    size_t start_size;
};

/* Instructions that keep their lengths and distances: [from, from + size) is now at `to`. */
struct move_run {
    uint64_t from, to;
    uint32_t size; /* bytes */
    uint32_t copy;
    uint8_t before; /* bytes added before the first instruction, including guards */
};

/* A return address of a call other than by its run. */
struct move_return {
    uint64_t from;   /* in the original file */
    uint64_t target; /* entry of the function that the pointer is; 0: any without a guard */
    uint64_t to;
    uint32_t copy; /* of the caller */
};

struct move_result {
    uint8_t *elf; /* the new file */
    size_t size;
    struct build_id id;    /* the new one; empty if the file has none */
    uint8_t *refusals;     /* enum move_refusal, by function of the plan */
    struct move_run *runs; /* by copy, then `from` */
    size_t run_count;
    struct move_return *returns; /* by `from`, copy, target */
    size_t return_count;
    uint64_t moved_bytes;   /* code bytes of the original functions */
    uint64_t emitted_bytes; /* code bytes of all copies */
    uint64_t segment_bytes; /* of the new segment */
    uint64_t repointed;     /* direct calls and jumps in code that stays */
};

struct move_survey;

/* What is known about an image before anything is moved. The image must outlive it; read-only once built. -ENOMEM
 * and other system errors; -ENOTSUP: nothing in this file can be moved. */
int move_survey_new(const struct image *image, struct move_survey **out, struct fathom_error *err);
void move_survey_free(struct move_survey *survey); /* NULL is allowed */
/* Whether the function with this index in the image can be moved, unchanged. -ENOMEM is possible. */
int move_refusal_of(const struct move_survey *survey, uint32_t function, enum move_refusal *out);

/* Makes the new file; the caller frees the result with move_result_free(). What the plan asks for but cannot be
 * done is in `refusals`. -EINVAL: the plan contradicts itself; -ENOTSUP: the file has no room for a segment. */
int move_apply(const struct move_survey *survey, const struct move_plan *plan, struct move_result *out,
               struct fathom_error *err);
void move_result_free(struct move_result *result);

/* Whether the instruction is a call through a pointer that can be guarded, without use of r11, which the guard
 * needs. */
bool move_guardable(const struct image *image, uint64_t site);

/* Where the instruction at `from` is in a copy; false: not moved. For a return address pass back = true: the end
 * of the call itself, not of one in a guard. */
bool move_translate(const struct move_result *result, uint64_t from, uint32_t copy, bool back, uint64_t *to);

/* The same for the return address of a call that led to the function at `target`: that of the guard's call, if
 * there is a guard. */
bool move_translate_return(const struct move_result *result, uint64_t from, uint32_t copy, uint64_t target,
                           uint64_t *to);

/* Where a function's entry is in a copy, before anything added to its first instruction. false: not moved. */
bool move_entry(const struct move_result *result, uint64_t entry, uint32_t copy, uint64_t *to);

/* Reads the new file again and compares its moved functions and their CFI with the old ones, instruction by
 * instruction. -EBADMSG: they differ by more than the plan says. */
int move_check(const struct move_survey *survey, const struct move_plan *plan,
               const struct move_result *result, struct fathom_error *err);

#endif
