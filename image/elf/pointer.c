/* pointer.c - see pointer.h. */
#include "image/elf/pointer.h"

enum {
    FORMAT_PTR,
    FORMAT_ULEB,
    FORMAT_U2,
    FORMAT_U4,
    FORMAT_U8,
    FORMAT_SLEB = 9,
    FORMAT_S2,
    FORMAT_S4,
    FORMAT_S8
};
enum { RELATIVE_ABS = 0x00, RELATIVE_PC = 0x10, RELATIVE_DATA = 0x30, RELATIVE_FUNCTION = 0x40 };

static uint64_t read_format(struct bytes *b, unsigned format)
{
    switch (format) {
    case FORMAT_PTR:
    case FORMAT_U8:
    case FORMAT_S8:
        return bytes_u64(b);
    case FORMAT_ULEB:
        return bytes_uleb(b);
    case FORMAT_U2:
        return bytes_u16(b);
    case FORMAT_U4:
        return bytes_u32(b);
    case FORMAT_SLEB:
        return (uint64_t)bytes_sleb(b);
    case FORMAT_S2:
        return (uint64_t)(int64_t)(int16_t)bytes_u16(b);
    case FORMAT_S4:
        return (uint64_t)(int64_t)(int32_t)bytes_u32(b);
    default:
        b->failed = true;
        return 0;
    }
}

uint64_t pointer_read(struct bytes *b, uint8_t encoding, const struct pointer_bases *bases)
{
    const uint8_t *place = b->at;
    uint64_t value = read_format(b, encoding & 0x0f), base = 0;
    if (b->failed || value == 0)
        return 0;
    switch (encoding & 0x70) {
    case RELATIVE_ABS:
        return value;
    case RELATIVE_PC:
        return value + bases->section_address + (uint64_t)(place - bases->section);
    case RELATIVE_DATA:
        base = bases->data;
        break;
    case RELATIVE_FUNCTION:
        base = bases->function;
        break;
    default:
        break;
    }
    if (base == 0) {
        b->failed = true;
        return 0;
    }
    return value + base;
}
