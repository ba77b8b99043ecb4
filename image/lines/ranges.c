/* ranges.c - address ranges of a DIE: low_pc and high_pc, .debug_ranges, .debug_rnglists (DWARF
 * 5, 2.17). */
#include <libdwarf/dwarf.h>
#include <errno.h>

#include "base/vec.h"
#include "image/lines/unit.h"

#define MAX_RANGES (1 << 20) /* of one DIE: more than any real one has */

static int add_range(struct lines_ranges *out, uint64_t low, uint64_t high)
{
    if (low == 0 || high <= low)
        return 0;
    return vec_push(out->items, out->count, out->capacity, (struct lines_range){low, high}) ? 0 : -ENOMEM;
}

static int read_old_list(const struct lines_ranges_source *source, Dwarf_Die die, Dwarf_Attribute attribute,
                         struct lines_ranges *out)
{
    Dwarf_Debug debug = source->skeleton ? source->program : source->debug;
    Dwarf_Off offset, real;
    Dwarf_Ranges *list;
    Dwarf_Signed count;
    Dwarf_Unsigned bytes;
    uint64_t base = source->low;
    if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK)
        return 0;
    if (source->skeleton) {
        die = source->skeleton;
        offset += source->old_base;
    }
    if (dwarf_get_ranges_b(debug, offset, die, &real, &list, &count, &bytes, NULL) != DW_DLV_OK)
        return 0;
    int rc = lines_spend(source->source, (uint64_t)count) ? 0 : -EOVERFLOW;
    for (Dwarf_Signed i = 0; i < count && rc == 0; i++) {
        if (list[i].dwr_type == DW_RANGES_END)
            break;
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else
            rc = add_range(out, list[i].dwr_addr1 + base, list[i].dwr_addr2 + base);
    }
    dwarf_ranges_dealloc(debug, list, count);
    return rc;
}

static int read_list(const struct lines_ranges_source *source, Dwarf_Attribute attribute,
                     struct lines_ranges *out)
{
    Dwarf_Half form;
    Dwarf_Unsigned value, count, offset;
    Dwarf_Rnglists_Head head;
    if (dwarf_whatform(attribute, &form, NULL) != DW_DLV_OK)
        return 0;
    int got = form == DW_FORM_rnglistx ? dwarf_formudata(attribute, &value, NULL)
                                       : dwarf_global_formref(attribute, &value, NULL);
    if (got != DW_DLV_OK ||
        dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset, NULL) != DW_DLV_OK)
        return 0;
    int rc = lines_spend(source->source, count) ? 0 : -EOVERFLOW;
    for (Dwarf_Unsigned i = 0; i < count && i < MAX_RANGES && rc == 0; i++) {
        unsigned length, code;
        Dwarf_Unsigned raw1, raw2, low, high;
        Dwarf_Bool unavailable = 0;
        if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw1, &raw2, &unavailable, &low,
                                              &high, NULL) != DW_DLV_OK ||
            code == DW_RLE_end_of_list)
            break;
        if (!unavailable && code != DW_RLE_base_address && code != DW_RLE_base_addressx)
            rc = add_range(out, low, high);
    }
    dwarf_dealloc_rnglists_head(head);
    return rc;
}

/* Decodes one entry of a list (DWARF 5, 2.17.3); *base: the base address. false: the entry is no range. */
static bool split_entry(Dwarf_Die skeleton, unsigned kind, Dwarf_Unsigned first, Dwarf_Unsigned second,
                        uint64_t *base, struct lines_range *out)
{
    Dwarf_Addr start = first, end = second;
    bool start_indexed =
        kind == DW_RLE_base_addressx || kind == DW_RLE_startx_endx || kind == DW_RLE_startx_length;
    if ((start_indexed && dwarf_debug_addr_index_to_addr(skeleton, first, &start, NULL) != DW_DLV_OK) ||
        (kind == DW_RLE_startx_endx &&
         dwarf_debug_addr_index_to_addr(skeleton, second, &end, NULL) != DW_DLV_OK))
        return false;
    switch (kind) {
    case DW_RLE_base_address:
    case DW_RLE_base_addressx:
        *base = start;
        return false;
    case DW_RLE_offset_pair:
        *out = (struct lines_range){*base + start, *base + end};
        return true;
    case DW_RLE_startx_length:
    case DW_RLE_start_length:
        *out = (struct lines_range){start, start + end};
        return true;
    default:
        *out = (struct lines_range){start, end};
        return true;
    }
}

/* libdwarf does not follow an index into the lists of a .dwo file, but it can read the entries. */
static int read_split_list(const struct lines_ranges_source *source, Dwarf_Attribute attribute,
                           struct lines_ranges *out)
{
    Dwarf_Unsigned number, offset, at, first, second;
    uint64_t base = source->low;
    if (dwarf_formudata(attribute, &number, NULL) != DW_DLV_OK ||
        dwarf_get_rnglist_offset_index_value(source->debug, source->lists, number, &offset, &at, NULL) !=
            DW_DLV_OK)
        return 0;
    int rc = 0;
    for (unsigned i = 0; i < MAX_RANGES && rc == 0; i++) {
        unsigned length, kind;
        struct lines_range range;
        if (dwarf_get_rnglist_rle(source->debug, source->lists, at, source->lists_end, &length, &kind, &first,
                                  &second, NULL) != DW_DLV_OK ||
            kind == DW_RLE_end_of_list)
            break;
        at += length;
        if (!lines_spend(source->source, 1))
            return -EOVERFLOW;
        if (split_entry(source->skeleton, kind, first, second, &base, &range))
            rc = add_range(out, range.low, range.high);
    }
    return rc;
}

static int read_ranges(const struct lines_ranges_source *source, Dwarf_Die die, Dwarf_Attribute attribute,
                       struct lines_ranges *out)
{
    Dwarf_Half form;
    if (source->version < 5)
        return read_old_list(source, die, attribute, out);
    bool indexed = dwarf_whatform(attribute, &form, NULL) == DW_DLV_OK && form == DW_FORM_rnglistx;
    return source->skeleton && indexed ? read_split_list(source, attribute, out)
                                       : read_list(source, attribute, out);
}

/* In split debug information, an address can be an index into the skeleton's table (libdwarf itself finds only
 * the first skeleton's). */
static bool read_low(const struct lines_ranges_source *source, Dwarf_Die die, Dwarf_Addr *low)
{
    Dwarf_Attribute attribute;
    Dwarf_Half form;
    Dwarf_Unsigned index;
    if (!source->skeleton || dwarf_attr(die, DW_AT_low_pc, &attribute, NULL) != DW_DLV_OK)
        return dwarf_lowpc(die, low, NULL) == DW_DLV_OK;
    bool got;
    if (dwarf_whatform(attribute, &form, NULL) == DW_DLV_OK && dwarf_addr_form_is_indexed(form))
        got = dwarf_get_debug_addr_index(attribute, &index, NULL) == DW_DLV_OK &&
              dwarf_debug_addr_index_to_addr(source->skeleton, index, low, NULL) == DW_DLV_OK;
    else
        got = dwarf_formaddr(attribute, low, NULL) == DW_DLV_OK;
    dwarf_dealloc_attribute(attribute);
    return got;
}

int lines_ranges_read(const struct lines_ranges_source *source, Dwarf_Die die, struct lines_ranges *out)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr(die, DW_AT_ranges, &attribute, NULL) == DW_DLV_OK) {
        int rc = read_ranges(source, die, attribute, out);
        dwarf_dealloc_attribute(attribute);
        return rc;
    }
    Dwarf_Addr low, high;
    Dwarf_Half form;
    enum Dwarf_Form_Class class;
    if (!read_low(source, die, &low) || dwarf_highpc_b(die, &high, &form, &class, NULL) != DW_DLV_OK)
        return 0;
    return add_range(out, low, class == DW_FORM_CLASS_ADDRESS ? high : low + high);
}
