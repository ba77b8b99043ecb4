/* ranges.c - address ranges of a DIE: low_pc and high_pc, .debug_ranges, .debug_rnglists (DWARF
 * 5, 2.17). */
#include <libdwarf/dwarf.h>
#include <errno.h>

#include "base/vec.h"
#include "image/lines/unit.h"

#define MAX_RANGES (1 << 20) /* of one DIE: more than any real one has */

static int add(struct lines_ranges *out, uint64_t low, uint64_t high)
{
    if (low == 0 || high <= low)
        return 0;
    return vec_push(out->items, out->count, out->room, (struct lines_range){low, high}) ? 0 : -ENOMEM;
}

static int read_old_list(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Attribute attribute, uint64_t base,
                         struct lines_ranges *out)
{
    Dwarf_Off offset, real;
    Dwarf_Ranges *list;
    Dwarf_Signed count;
    Dwarf_Unsigned bytes;
    if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK ||
        dwarf_get_ranges_b(debug, offset, die, &real, &list, &count, &bytes, NULL) != DW_DLV_OK)
        return 0;
    int rc = 0;
    for (Dwarf_Signed i = 0; i < count && rc == 0; i++) {
        if (list[i].dwr_type == DW_RANGES_END)
            break;
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else
            rc = add(out, list[i].dwr_addr1 + base, list[i].dwr_addr2 + base);
    }
    dwarf_ranges_dealloc(debug, list, count);
    return rc;
}

static int read_list(Dwarf_Attribute attribute, struct lines_ranges *out)
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
    int rc = 0;
    for (Dwarf_Unsigned i = 0; i < count && i < MAX_RANGES && rc == 0; i++) {
        unsigned length, code;
        Dwarf_Unsigned raw1, raw2, low, high;
        Dwarf_Bool unavailable = 0;
        if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw1, &raw2, &unavailable, &low,
                                              &high, NULL) != DW_DLV_OK ||
            code == DW_RLE_end_of_list)
            break;
        if (!unavailable && code != DW_RLE_base_address && code != DW_RLE_base_addressx)
            rc = add(out, low, high);
    }
    dwarf_dealloc_rnglists_head(head);
    return rc;
}

int lines_ranges_read(Dwarf_Debug debug, Dwarf_Die die, uint16_t version, uint64_t unit_low,
                      struct lines_ranges *out)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr(die, DW_AT_ranges, &attribute, NULL) == DW_DLV_OK) {
        int rc =
            version >= 5 ? read_list(attribute, out) : read_old_list(debug, die, attribute, unit_low, out);
        dwarf_dealloc_attribute(attribute);
        return rc;
    }
    Dwarf_Addr low, high;
    Dwarf_Half form;
    enum Dwarf_Form_Class class;
    if (dwarf_lowpc(die, &low, NULL) != DW_DLV_OK ||
        dwarf_highpc_b(die, &high, &form, &class, NULL) != DW_DLV_OK)
        return 0;
    return add(out, low, class == DW_FORM_CLASS_ADDRESS ? high : low + high);
}
