/* code.c - one instruction, by tables of opcodes; see code.h. */
#include "image/code/fields.h"
#include "image/code/reader.h"

#include <string.h>

#define LENGTH_MAX 15 /* bytes; the processor's limit */

enum { /* what follows an opcode */
       N = 0,
       M = 1,    /* ModRM */
       I1 = 2,   /* an immediate of 1 byte */
       IZ = 4,   /* of 4, or of 2 under a 66 prefix */
       I2 = 8,   /* of 2 */
       B4 = 16,  /* a branch distance of 4 */
       X = 32,   /* invalid in 64-bit mode, or handled separately */
       IV = 64,  /* 8 with REX.W, else as IZ */
       MO = 128, /* an address of 8, or of 4 under a 67 prefix */
};

#define ROW(what)                                                                                            \
    what, what, what, what, what, what, what, what, what, what, what, what, what, what, what, what
#define ALU M, M, M, M, I1, IZ, X, X, M, M, M, M, I1, IZ, X, X

/* clang-format off */
static const uint8_t one_byte[256] = {
    ALU, ALU, ALU, ALU,
    ROW(X), /* 40: REX */
    ROW(N),
    X, X, X, M, X, X, X, X, IZ, M | IZ, I1, M | I1, N, N, N, N,
    ROW(I1),
    M | I1, M | IZ, X, M | I1, M, M, M, M, M, M, M, M, M, M, M, M,
    N, N, N, N, N, N, N, N, N, N, X, N, N, N, N, N,
    MO, MO, MO, MO, N, N, N, N, I1, IZ, N, N, N, N, N, N,
    I1, I1, I1, I1, I1, I1, I1, I1, IV, IV, IV, IV, IV, IV, IV, IV,
    M | I1, M | I1, I2, N, X, X, M | I1, M | IZ, I2 | I1, N, I2, N, N, I1, X, N,
    M, M, M, M, X, X, X, N, M, M, M, M, M, M, M, M,
    I1, I1, I1, I1, I1, I1, I1, I1, B4, B4, X, I1, N, N, N, N,
    X, N, X, X, N, N, M, M, N, N, N, N, N, N, M, M,
};

static const uint8_t two_bytes[256] = { /* after 0f */
    M, M, M, M, X, N, N, N, N, N, X, N, X, M, N, M | I1,
    ROW(M),
    ROW(M),
    N, N, N, N, N, N, X, N, X, X, X, X, X, X, X, X, /* 38 and 3a select further maps */
    ROW(M), ROW(M), ROW(M),
    M | I1, M | I1, M | I1, M | I1, M, M, M, N, M, M, X, X, M, M, M, M,
    ROW(B4),
    ROW(M),
    N, N, N, M, M | I1, M, X, X, N, N, N, M, M | I1, M, M, M,
    M, M, M, M, M, M, M, M, M, M, M | I1, M, M, M, M, M,
    M, M, M | I1, M, M | I1, M | I1, M | I1, M, N, N, N, N, N, N, N, N,
    ROW(M), ROW(M), ROW(M),
};
/* clang-format on */

static bool take_value(struct code_reader *r, unsigned bytes, int64_t *value)
{
    if (r->size - r->at < bytes)
        return false;
    uint64_t v = 0;
    memcpy(&v, r->code + r->at, bytes);
    r->at += bytes;
    unsigned unused = 64 - 8 * bytes;
    *value = bytes ? (int64_t)(v << unused) >> unused : 0;
    return true;
}

static bool read_modrm(struct code_reader *r)
{
    if (r->at >= r->size)
        return false;
    unsigned byte = r->code[r->at++], low = byte & 7;
    struct code_insn *out = r->out;
    r->has_modrm = true;
    r->mod = (uint8_t)(byte >> 6);
    r->reg = (uint8_t)((byte >> 3 & 7) | (r->rex & 4 ? 8 : 0));
    r->rm = (uint8_t)(low | (r->rex & 1 ? 8 : 0));
    if (r->mod == 3) {
        out->base = r->rm;
        return true;
    }
    out->memory_operand = true;
    unsigned width = r->mod == 1 ? 1 : r->mod == 2 ? 4 : 0;
    if (low == 4) {
        if (r->at >= r->size)
            return false;
        unsigned sib = r->code[r->at++];
        unsigned index = (sib >> 3 & 7) | (r->rex & 2 ? 8 : 0);
        out->base = (uint8_t)((sib & 7) | (r->rex & 1 ? 8 : 0));
        out->index = index == CODE_SP ? CODE_NO_REGISTER : (uint8_t)index;
        out->scale = (uint8_t)(1 << (sib >> 6));
        if (r->mod == 0 && (sib & 7) == 5) {
            out->base = CODE_NO_REGISTER;
            width = 4;
        }
    } else if (r->mod == 0 && low == 5) {
        out->rip_relative = true;
        width = 4;
    } else {
        out->base = r->rm;
    }
    int64_t displacement;
    r->displacement_at = (uint8_t)r->at;
    r->displacement_size = (uint8_t)width;
    if (!take_value(r, width, &displacement))
        return false;
    out->displacement = (int32_t)displacement;
    return true;
}

static bool take_immediate(struct code_reader *r, unsigned what)
{
    unsigned z = r->operand16 ? 2 : 4;
    int64_t second;
    /* test, in the group of f6 and f7, has one */
    if (r->map == 0 && (r->opcode & 0xfe) == 0xf6 && (r->reg & 6) == 0)
        what |= r->opcode == 0xf6 ? I1 : IZ;
    if (what & I2) /* enter has one more byte */
        return take_value(r, 2, &r->immediate) && take_value(r, what & I1 ? 1 : 0, &second);
    if (what & I1)
        return take_value(r, 1, &r->immediate);
    if (what & B4)
        return take_value(r, 4, &r->immediate);
    if (what & IZ)
        return take_value(r, z, &r->immediate);
    if (what & IV)
        return take_value(r, r->rex & 8 ? 8 : z, &r->immediate);
    if (what & MO)
        return take_value(r, r->address32 ? 4 : 8, &r->immediate);
    return true;
}

static bool read_immediate(struct code_reader *r, unsigned what)
{
    size_t before = r->at;
    bool read = take_immediate(r, what);
    r->immediate_at = (uint8_t)before;
    r->immediate_size = (uint8_t)(r->at - before);
    return read;
}

/* VEX, EVEX and XOP: prefix, opcode, ModRM, SIB, displacement, immediate. None is a branch; a few write a general
 * register (bit counts, moves from vectors). Every XOP instruction is assumed to, in any of three fields. */
static bool read_vector(struct code_reader *r, unsigned first)
{
    unsigned prefix = first == 0x62 ? 4 : first == 0xc5 ? 2 : 3;
    if (r->size - r->at < prefix + 1)
        return false;
    const uint8_t *p = r->code + r->at;
    unsigned map = prefix == 2 ? 1 : p[1] & (first == 0x62 ? 0x07 : 0x1f);
    unsigned inverted = ~(unsigned)p[1];
    r->rex = (inverted & 0x80 ? 4 : 0) | (prefix > 2 && inverted & 0x40 ? 2 : 0) |
             (prefix > 2 && inverted & 0x20 ? 1 : 0);
    unsigned vvvv = ~(unsigned)p[prefix == 2 ? 1 : 2] >> 3 & 15;
    r->opcode = p[prefix];
    r->at += prefix + 1;
    bool xop = first == 0x8f;
    r->vector = true;
    r->map = (uint8_t)map;
    if (xop ? map < 8 || map > 10 : map == 0 || map == 4 || map > 7)
        return false;
    bool none = !xop && map == 1 && r->opcode == 0x77; /* vzeroupper */
    if (!none && !read_modrm(r))
        return false;
    r->scaled = first == 0x62 && r->displacement_size == 1;
    unsigned size = 0;
    if (xop)
        size = map == 8 ? 1 : map == 10 ? 4 : 0;
    else if (map == 3)
        size = 1;
    else if (map == 1)
        size = (r->opcode & 0xfc) == 0x70 || r->opcode == 0xc2 || (r->opcode >= 0xc4 && r->opcode <= 0xc6);
    if (map == 1 && r->opcode == 0x77)
        size = 0;
    if (xop)
        r->out->written = (uint16_t)((1u << (r->reg & 15) | 1u << vvvv | (r->mod == 3 ? 1u << r->rm : 0)) &
                                     ~(1u << CODE_SP));
    else
        code_effects_extended(r, map, vvvv);
    return take_value(r, size, &r->immediate);
}

/* Prefixes; false: the end. The first non-prefix byte is r->code[r->at]. */
static bool read_prefixes(struct code_reader *r)
{
    for (; r->at < r->size; r->at++) {
        unsigned byte = r->code[r->at];
        switch (byte) {
        case 0x66:
            r->operand16 = true;
            break;
        case 0x67:
            r->address32 = true;
            break;
        case 0xf3:
            r->repeat = true;
            break;
        case 0x3e:
            r->out->notrack = true;
            break;
        case 0xf0:
        case 0xf2:
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x64:
        case 0x65:
            break;
        default:
            if ((byte & 0xf0) != 0x40)
                return true;
            r->rex = byte;
            continue;
        }
        r->rex = 0; /* only valid right before the opcode */
    }
    return false;
}

static bool read_instruction(struct code_reader *r)
{
    if (!read_prefixes(r))
        return false;
    if (r->rex & 8)
        r->operand16 = false;
    unsigned byte = r->code[r->at];
    bool more = r->size - r->at > 1;
    /* 8f is pop, or XOP if its map field is 8 or more */
    if (byte == 0x62 || byte == 0xc4 || byte == 0xc5 ||
        (byte == 0x8f && more && (r->code[r->at + 1] & 0x1f) >= 8))
        return read_vector(r, byte);
    r->at++;
    unsigned what = one_byte[byte], escape = 0;
    r->opcode = byte;
    if (byte == 0x0f) {
        if (r->at >= r->size)
            return false;
        r->opcode = r->code[r->at++];
        r->map = 1;
        what = two_bytes[r->opcode];
        if (r->opcode == 0x38 || r->opcode == 0x3a) {
            r->map = 2;
            escape = r->opcode;
            what = escape == 0x38 ? M : M | I1;
            if (r->at >= r->size)
                return false;
            r->opcode = r->code[r->at++];
        }
    }
    if (what & X || (what & M && !read_modrm(r)) || !read_immediate(r, what) || r->at > LENGTH_MAX)
        return false;
    if (r->map == 0)
        code_effects_one_byte(r);
    else if (r->map == 1)
        code_effects_two_bytes(r);
    else
        code_effects_extended(r, escape == 0x38 ? 2 : 3, 0);
    return true;
}

bool code_read(const uint8_t *code, size_t size, uint64_t address, struct code_insn *out)
{
    *out = (struct code_insn){
        .address = address, .reg = CODE_NO_REGISTER, .base = CODE_NO_REGISTER, .index = CODE_NO_REGISTER};
    struct code_reader r = {.code = code, .size = size < LENGTH_MAX ? size : LENGTH_MAX, .out = out};
    if (!read_instruction(&r))
        return false;
    out->length = (uint8_t)r.at;
    uint64_t next = address + r.at;
    if (out->rip_relative)
        out->memory = next + (uint64_t)(int64_t)out->displacement;
    if (out->kind >= CODE_CALL && out->kind <= CODE_BRANCH)
        out->target += next;
    return true;
}

bool code_read_fields(const uint8_t *code, size_t size, struct code_fields *out)
{
    struct code_insn insn = {.reg = CODE_NO_REGISTER, .base = CODE_NO_REGISTER, .index = CODE_NO_REGISTER};
    struct code_reader r = {.code = code, .size = size < LENGTH_MAX ? size : LENGTH_MAX, .out = &insn};
    if (!read_instruction(&r))
        return false;
    *out = (struct code_fields){.length = (uint8_t)r.at,
                                .map = (uint8_t)r.map,
                                .opcode = (uint8_t)r.opcode,
                                .wide = r.rex & 8,
                                .vector = r.vector,
                                .scaled = r.scaled,
                                .address32 = r.address32,
                                .has_modrm = r.has_modrm,
                                .mod = r.mod,
                                .reg = r.reg,
                                .rm = r.rm,
                                .displacement_at = r.displacement_at,
                                .displacement_size = r.displacement_size,
                                .immediate_at = r.immediate_at,
                                .immediate_size = r.immediate_size};
    return true;
}
