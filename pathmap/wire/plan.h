/*
 * plan.h - the plan of one image: where the probe runtime patches its code, and the displaced code to run
 * instead.
 *
 * `fathom train` builds a plan (pathmap/train/plan.h), the runtime reads and applies it. The file lives for one
 * session on one machine: native integers, a layout without padding:
 *
 *     header | hooks[hook_count] | fixups[fixup_count] | calls[call_count] | code[code_size]
 *
 * Addresses are virtual addresses of the ELF file; in memory they are `bias` higher. This header and
 * plan_read.c depend on libc's headers and memcmp/memcpy alone, as the runtime does.
 *
 * What a hook does when its function is entered: control comes to a trampoline with all registers, flags and
 * the stack as at the entry. The trampoline records the entry and then runs the hook's code, which
 * plan_place() has copied behind it: the displaced instructions and, unless they never fall through, a jump
 * back to address + original_length.
 *
 *     SLED        5 bytes of nops at `address` become "jmp rel32" to the trampoline. The code is the jump
 * back. DETOUR      the first 5 bytes at `address` become "jmp rel32" to the trampoline. PAD         the
 * first 2 bytes become "jmp rel8" to `pad`, 5 bytes that nothing else uses, which become "jmp rel32" to the
 * trampoline. BREAKPOINT  the first byte becomes int3; the SIGTRAP handler continues in the trampoline.
 *
 * Bytes from patch_length up to original_length are tails of displaced instructions or dead padding: nobody
 * jumps to them, and they stay as they are.
 */
#ifndef FATHOM_PATHMAP_WIRE_PLAN_H
#define FATHOM_PATHMAP_WIRE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC        "FPLN"
#define PLAN_VERSION      2
#define PLAN_ORIGINAL_MAX 20  /* 4 bytes and one instruction of 15 fit */
#define PLAN_CODE_MAX     160 /* bytes of one hook's code at most */
#define PLAN_JUMP         5   /* bytes of a "jmp rel32" */

struct plan_header {
    char magic[4];
    uint32_t version;
    uint32_t hook_count, fixup_count;
    uint32_t code_size;
    uint32_t left_out;            /* functions that have no hook: the builder's summary names them */
    uint64_t text_low, text_high; /* all bytes that are patched lie in [low, high); 0, 0 without hooks */
    uint64_t entry; /* where the program starts (_start, which has no hook); 0 for a library without one */
    uint8_t build_id_size; /* bytes in use, at most 20; 0: none */
    uint8_t build_id[20];
    uint8_t reserved[3]; /* 0 */
    uint32_t call_count;
    uint64_t calls_from; /* the calls' return addresses count from here */
};
_Static_assert(sizeof(struct plan_header) == 88, "no padding");

enum plan_kind { PLAN_SLED, PLAN_DETOUR, PLAN_PAD, PLAN_BREAKPOINT, PLAN_KINDS };

/* Hooks ascend by address and patched bytes never overlap; so do pads among themselves, and pads lie outside
 * of all hooks' patched bytes. */
struct plan_hook {
    uint64_t address;           /* first patched byte: the function's entry, or just after its endbr64 */
    uint64_t function;          /* the function's entry: what the map calls it; address - 15 at the lowest */
    uint64_t pad;               /* PAD: the padding's address; else 0 */
    uint32_t code, code_length; /* in code[]; 0 < code_length <= PLAN_CODE_MAX */
    uint32_t fixups, fixup_count; /* first one, and how many */
    uint8_t kind;                 /* enum plan_kind */
    uint8_t patch_length;         /* bytes written at `address`: 5, 5, 2, 1 by kind */
    uint8_t original_length;      /* bytes expected at `address`; a mismatch means another file */
    uint8_t original[PLAN_ORIGINAL_MAX];
    uint8_t pad_original[PLAN_JUMP]; /* PAD: bytes expected at `pad` */
    uint32_t size;                   /* of the function: bytes of code from its entry on, > 0 */
};
_Static_assert(sizeof(struct plan_hook) == 72, "no padding");

/* A 32-bit field of a hook's code that depends on where the code or the image is. */
enum plan_fixup_kind {
    PLAN_REL32,   /* bias + target - (address of the field + 4 + trailing); must fit 32 bits, signed */
    PLAN_ABS_LOW, /* bits 0..31 of bias + target */
    PLAN_ABS_HIGH /* bits 32..63 of bias + target */
};

struct plan_fixup {
    uint64_t target;  /* address in the image */
    uint16_t offset;  /* of the field, from the start of the hook's code */
    uint8_t kind;     /* enum plan_fixup_kind */
    uint8_t trailing; /* bytes between the field and the end of its instruction (an immediate) */
    uint32_t reserved;
};
_Static_assert(sizeof(struct plan_fixup) == 16, "no padding");

/* Where the frame of a function that makes a call starts, as seen from the frame of the callee: by this the
 * runtime knows which of the frames that it has seen called. Calls ascend by `back`, each once. BP is what it
 * is at the callee's entry. */
enum plan_call_kind {
    PLAN_CALL_FIXED,     /* CFA = the callee's CFA + offset; offset >= 8 */
    PLAN_CALL_BP,        /* CFA = BP + offset: alloca, realigned frames */
    PLAN_CALL_BP_MEMORY, /* CFA = *(uint64_t *)(BP + offset) */
    PLAN_CALL_UNKNOWN,   /* offset is 0 */
};

/* What BP was at the calling function's own entry. */
enum plan_bp_kind {
    PLAN_BP_SAME,   /* BP */
    PLAN_BP_AT_CFA, /* *(uint64_t *)(CFA + offset), CFA being that of the calling function */
    PLAN_BP_AT_BP,  /* *(uint64_t *)(BP + offset) */
    PLAN_BP_UNKNOWN
};

#define PLAN_OFFSET_MAX (1 << 29) /* bytes; offsets lie above its negative and below it */
#define PLAN_NO_HOOK    UINT32_MAX

struct plan_call {
    uint32_t back; /* the return address, as a distance from header.calls_from */
    uint32_t hook; /* the index of the calling function's hook; PLAN_NO_HOOK: it has none */
    int32_t cfa;   /* plan_rule() with a plan_call_kind */
    int32_t bp;    /* plan_rule() with a plan_bp_kind */
};
_Static_assert(sizeof(struct plan_call) == 16, "no padding");

static inline int32_t plan_rule(unsigned kind, int32_t offset)
{
    return offset * 4 + (int32_t)kind;
}

static inline unsigned plan_rule_kind(int32_t rule)
{
    return (unsigned)rule & 3;
}

static inline int32_t plan_rule_offset(int32_t rule)
{
    return (rule - (rule & 3)) / 4;
}

/* A plan that was checked: everything in it lies where it may. Borrows the data. */
struct plan {
    const struct plan_header *header;
    const struct plan_hook *hooks;
    const struct plan_fixup *fixups;
    const struct plan_call *calls;
    const uint8_t *code;
};

/* data: aligned to 8 bytes. 0, or -EBADMSG with a reason (a constant text; reason may be NULL). */
int plan_read(const void *data, size_t size, struct plan *out, const char **reason);

/* Writes the hook's code, code_length bytes, as it runs at `address` (which need not be where `out` is) with
 * the image at `bias`. false: a target is out of reach of a 32-bit field, and out is not usable. */
bool plan_place(const struct plan *plan, const struct plan_hook *hook, uint64_t bias, uint64_t address,
                uint8_t *out);

#endif
