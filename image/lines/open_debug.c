/* open_debug.c - see open_debug.h; libdwarf's object file interface (libdwarf.h). Its section 0 is none, as in ELF. */
#include "image/lines/open_debug.h"

#include <elf.h>
#include <libdwarf/dwarf.h>
#include <stdlib.h>

#include "base/saturate.h"

static int section_info(void *context, Dwarf_Half index, Dwarf_Obj_Access_Section *out, int *error)
{
    const struct sections *all = context;
    (void)error;
    *out = (Dwarf_Obj_Access_Section){.name = ""};
    if (index > all->count)
        return DW_DLV_NO_ENTRY;
    if (index) {
        out->type = SHT_PROGBITS;
        out->size = all->items[index - 1].size;
        out->name = all->items[index - 1].name;
    }
    return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *context)
{
    (void)context;
    return DW_OBJECT_LSB;
}

static Dwarf_Small word_size(void *context)
{
    (void)context;
    return 8;
}

static Dwarf_Unsigned section_count(void *context)
{
    const struct sections *all = context;
    return all->count + 1;
}

static int load_section(void *context, Dwarf_Half index, Dwarf_Small **bytes, int *error)
{
    struct sections *all = context;
    if (index == 0 || index > all->count)
        return DW_DLV_NO_ENTRY;
    *bytes = sections_bytes(all, &all->items[index - 1]);
    *error = DW_DLE_ALLOC_FAIL;
    return *bytes ? DW_DLV_OK : DW_DLV_ERROR;
}

/* libdwarf calls this if no error object was passed; otherwise it would abort. */
static void ignore_error(Dwarf_Error error, Dwarf_Ptr context)
{
    (void)error;
    (void)context;
}

struct lines_debug *lines_debug_open_sections(struct sections *sections, uint64_t *work)
{
    static const Dwarf_Obj_Access_Methods methods = {section_info,  byte_order,   word_size, word_size,
                                                     section_count, load_section, NULL};
    struct lines_debug *debug = sections && sections->count < UINT16_MAX ? calloc(1, sizeof *debug) : NULL;
    Dwarf_Error error = NULL;
    if (!debug) {
        sections_close(sections);
        return NULL;
    }
    *debug = (struct lines_debug){.sections = sections, .object = {sections, &methods}};
    const int opened =
        dwarf_object_init_b(&debug->object, ignore_error, NULL, DW_GROUPNUMBER_ANY, &debug->dwarf, &error);
    if (opened == DW_DLV_OK) {
        for (size_t i = 0; i < sections->count; i++)
            *work = add_saturating(*work, sections->items[i].size);
        return debug;
    }
    if (opened == DW_DLV_ERROR)
        dwarf_dealloc_error(NULL, error);
    debug->dwarf = NULL;
    lines_debug_close(debug);
    return NULL;
}

struct lines_debug *lines_debug_open(const char *path, uint64_t *work)
{
    return lines_debug_open_sections(sections_open(path), work);
}

void lines_debug_close(struct lines_debug *debug)
{
    if (!debug)
        return;
    if (debug->dwarf)
        dwarf_object_finish(debug->dwarf, NULL);
    sections_close(debug->sections);
    free(debug);
}
