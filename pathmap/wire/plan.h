/*
 * plan.h - the plan of one image: where the probe runtime patches its code, and the displaced code to run
 * instead.
 *
 * `fathom train` builds a plan (pathmap/train/plan.h), the runtime reads and applies it. The file lives for
 * one session on one machine: native integers, a layout without padding:
 *
 *     header | hooks[hook_count] | fixups[fixup_count] | calls[call_count] | code[code_size]
 *
 * Addresses are virtual addresses of the ELF file; in memory they are `bias` higher. Like the runtime, this
 * header and plan_read.c depend only on libc's headers and memcmp/memcpy.
 *
 * When a hooked function is entered, control goes to a trampoline with all registers, flags and the stack as
 * at the entry. The trampoline records the entry and then runs the hook's code, which plan_place() has copied
 * after it: the displaced instructions and, unless they never fall through, a jump back to the one behind them.
 * If the function begins with a loop, these are all instructions of the loop, so that its rounds do not pass the
 * hook.
 *
 *     SLED        5 bytes of nops at `address` become "jmp rel32" to the trampoline; code is the jump back.
 *     DETOUR      the first 5 bytes at `address` become "jmp rel32" to the trampoline.
 *     PAD         the first 2 bytes become "jmp rel8" to `pad`, 5 bytes that nothing else uses, which become
 *                 "jmp rel32" to the trampoline.
 *     BREAKPOINT  the first byte becomes int3; the SIGTRAP handler continues in the trampoline.
 *
 * Bytes from patch_length up to original_length are tails of displaced instructions or dead padding: nothing
 * jumps to them, and they are left unchanged.
 */
#ifndef FATHOM_PATHMAP_WIRE_PLAN_H
#define FATHOM_PATHMAP_WIRE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC        "FPLN"
#define PLAN_VERSION      5
#define PLAN_ORIGINAL_MAX 20   /* fits 4 bytes and one instruction of 15 */
#define PLAN_CODE_MAX     4104 /* bytes of one hook's code at most */
#define PLAN_JUMP         5    /* bytes of a "jmp rel32" */

struct plan_header {
    char magic[4];
    uint32_t version;
    uint32_t hook_count, fixup_count;
    uint32_t code_size;
    uint32_t left_out;            /* functions without a hook: the builder's summary names them */
    uint64_t text_low, text_high; /* all patched bytes are in [low, high); 0, 0 without hooks */
    uint64_t entry; /* the program's entry point (_start, which has no hook); 0 for a library without one */
    uint8_t build_id_size; /* bytes in use, at most 20; 0: none */
    uint8_t build_id[20];
    uint8_t reserved[3]; /* 0 */
    uint32_t call_count;
    uint64_t calls_from; /* the origin of the calls' return addresses */
};
_Static_assert(sizeof(struct plan_header) == 88, "no padding");

enum plan_kind { PLAN_SLED, PLAN_DETOUR, PLAN_PAD, PLAN_BREAKPOINT, PLAN_KINDS };

enum plan_flags {
    PLAN_LOOPS =
        1, /* the function jumps back to the hook, where it may have data in its red zone (psABI, 3.2.2) */
};

/* Hooks ascend by address and patched bytes never overlap; so do pads among themselves, and pads are outside
 * all hooks' patched bytes. */
struct plan_hook {
    uint64_t address;  /* first patched byte: the function's entry, or just after its endbr64 */
    uint64_t function; /* the function's entry, which identifies it in the map; at least address - 15 */
    uint64_t pad;      /* PAD: the padding's address; else 0 */
    uint32_t code, code_length; /* in code[]; 0 < code_length <= PLAN_CODE_MAX */
    uint32_t fixups;            /* index of the first */
    uint16_t fixup_count;
    uint16_t flags;          /* enum plan_flags */
    uint8_t kind;            /* enum plan_kind */
    uint8_t patch_length;    /* bytes written at `address`: 5, 5, 2, 1 by kind */
    uint8_t original_length; /* bytes expected at `address`; a mismatch means another file */
    uint8_t original[PLAN_ORIGINAL_MAX];
    uint8_t pad_original[PLAN_JUMP]; /* PAD: bytes expected at `pad` */
    uint32_t size;                   /* of the function: bytes of code from its entry, > 0 */
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

/* Where a caller's frame starts, relative to the callee's frame: by this the runtime finds the caller among
 * the known frames. Calls ascend by `back`, each once. BP is its value at the callee's entry. */
enum plan_call_kind {
    PLAN_CALL_FIXED,     /* CFA = the callee's CFA + offset; offset >= 8 */
    PLAN_CALL_BP,        /* CFA = BP + offset: alloca, realigned frames */
    PLAN_CALL_BP_MEMORY, /* CFA = *(uint64_t *)(BP + offset) */
    PLAN_CALL_UNKNOWN,   /* offset is 0 */
};

/* The value of BP at the calling function's own entry. */
enum plan_bp_kind {
    PLAN_BP_SAME,   /* BP */
    PLAN_BP_AT_CFA, /* *(uint64_t *)(CFA + offset), CFA being that of the calling function */
    PLAN_BP_AT_BP,  /* *(uint64_t *)(BP + offset) */
    PLAN_BP_UNKNOWN
};

#define PLAN_OFFSET_MAX (1 << 29) /* bytes; the absolute value of offsets is below it */
#define PLAN_NO_HOOK    UINT32_MAX

struct plan_call {
    uint32_t back; /* the return address, relative to header.calls_from */
    uint32_t hook; /* index of the calling function's hook; PLAN_NO_HOOK: none */
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

/* A checked plan: all its ranges are valid. Borrows the data. */
struct plan {
    const struct plan_header *header;
    const struct plan_hook *hooks;
    const struct plan_fixup *fixups;
    const struct plan_call *calls;
    const uint8_t *code;
};

/* data: aligned to 8 bytes. 0, or -EBADMSG with a reason (a constant text; reason may be NULL). */
int plan_read(const void *data, size_t size, struct plan *out, const char **reason);

/* Writes the hook's code, code_length bytes, to run at `address` (which need not be where `out` is) with the
 * image at `bias`. false: a target is out of range of a 32-bit field, and out is unusable. */
bool plan_place(const struct plan *plan, const struct plan_hook *hook, uint64_t bias, uint64_t address,
                uint8_t *out);

#endif
