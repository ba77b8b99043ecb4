/*
 * fields.h - how an instruction is encoded, and where its displacement and immediate are, for code that changes
 * them. Read in the same way as by code.h.
 */
#ifndef FATHOM_IMAGE_CODE_FIELDS_H
#define FATHOM_IMAGE_CODE_FIELDS_H

#include "image/code/code.h"

struct code_fields {
    uint8_t length; /* bytes */
    uint8_t map; /* of the opcode; 0: one byte, 1: after 0f, 2: after 0f 38 or 0f 3a; if `vector`, its own */
    uint8_t opcode;
    bool wide;      /* operands of 8 bytes (REX.W) */
    bool vector;    /* VEX, EVEX or XOP */
    bool scaled;    /* EVEX: a one-byte displacement counts elements, whose size is not known here */
    bool address32; /* memory operands have 32-bit registers */
    bool has_modrm;
    uint8_t mod, reg, rm; /* reg, rm: with the bits of REX; in groups reg is part of the opcode */
    uint8_t displacement_at, displacement_size; /* bytes; size 0: none */
    uint8_t immediate_at, immediate_size; /* includes the distance of direct branches; not set if `vector` */
};

/* false: as code_read(). */
bool code_read_fields(const uint8_t *code, size_t size, struct code_fields *out);

#endif
