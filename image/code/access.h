/*
 * access.h - what an x86-64 instruction reads, writes and refers to (capstone), for code that is inserted between
 * instructions: which registers and flags are free there, and which addresses to record.
 *
 * Where capstone is not known to be right, an instruction is assumed to read a register and not to overwrite it.
 */
#ifndef FATHOM_IMAGE_CODE_ACCESS_H
#define FATHOM_IMAGE_CODE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCESS_FLAGS       0x10000u /* beside the bits of the 16 general registers: OF, SF, ZF, AF, PF, CF as one */
#define ACCESS_ALL         0x1ffffu
#define ACCESS_REFS        2u
#define ACCESS_NO_REGISTER 0xff

enum access_form {
    ACCESS_PLAIN,
    ACCESS_STRING,  /* movs, stos, ...: from its address upwards or downwards; perhaps repeated */
    ACCESS_SEGMENT, /* relative to FS or GS */
    ACCESS_VECTOR,  /* many addresses: gathers and scatters */
    ACCESS_NARROW,  /* with 32-bit registers */
};

struct access_ref {             /* an operand in memory: base + index * scale + displacement */
    uint8_t base, index, scale; /* register numbers; ACCESS_NO_REGISTER: none */
    uint8_t form;               /* enum access_form */
    uint16_t size;              /* bytes; 0: unknown */
    bool load, store;
    bool rip_relative; /* at `address` */
    bool locked;
    int32_t displacement;
    uint64_t address;
};

struct access {
    uint32_t reads;  /* bit n: register n; ACCESS_FLAGS */
    uint32_t kills;  /* overwritten with values that do not depend on the old ones */
    uint32_t writes; /* possibly changed, in whole or part */
    struct access_ref refs[ACCESS_REFS];
    uint8_t ref_count;
    bool gs; /* refers to memory by GS, or changes GS */
};

struct insn_reader; /* insn.h */

/* The instruction at the start of `code`. false: unknown, or truncated by the end. */
bool access_read(struct insn_reader *reader, const uint8_t *code, size_t size, uint64_t address,
                 struct access *out);

#endif
