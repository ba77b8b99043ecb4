/* reader.h - an instruction being decoded. Private to code.c (its format) and effects.c (its effects). */
#ifndef FATHOM_IMAGE_CODE_READER_H
#define FATHOM_IMAGE_CODE_READER_H

#include "image/code/code.h"

struct code_reader {
    const uint8_t *code;
    size_t size, at;
    struct code_insn *out;
    unsigned rex;
    bool operand16, address32;
    bool repeat;         /* f3 */
    bool vector, scaled; /* see fields.h */
    unsigned opcode, map;
    uint8_t mod, reg, rm; /* of ModRM, with the bits of REX */
    bool has_modrm;
    uint8_t displacement_at, displacement_size, immediate_at, immediate_size;
    int64_t immediate;
};

/* Fills in the effects of an instruction of the one-byte opcode map, whose fields have been read. */
void code_effects_one_byte(struct code_reader *r);
void code_effects_two_bytes(struct code_reader *r); /* the same after 0f */
/* map: 2 or 3: after 0f 38 or 0f 3a; or the map of VEX and EVEX, whose third operand's number is vvvv. */
void code_effects_extended(struct code_reader *r, unsigned map, unsigned vvvv);

#endif
