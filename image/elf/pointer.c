/* pointer.c - see pointer.h. */
#include "image/elf/pointer.h"

#include <libdwarf/dwarf.h>

static uint64_t read_format(struct bytes *b, unsigned format)
{
    switch (format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return bytes_u64(b);
    case DW_EH_PE_uleb128:
        return bytes_uleb(b);
    case DW_EH_PE_udata2:
        return bytes_u16(b);
    case DW_EH_PE_udata4:
        return bytes_u32(b);
    case DW_EH_PE_sleb128:
        return (uint64_t)bytes_sleb(b);
    case DW_EH_PE_sdata2:
        return (uint64_t)(int64_t)(int16_t)bytes_u16(b);
    case DW_EH_PE_sdata4:
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
    case DW_EH_PE_absptr:
        return value;
    case DW_EH_PE_pcrel:
        return value + bases->section_address + (uint64_t)(place - bases->section);
    case DW_EH_PE_datarel:
        base = bases->data;
        break;
    case DW_EH_PE_funcrel:
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
