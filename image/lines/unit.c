/* unit.c - see unit.h. DWARF 5, sections 3.3 (functions), 3.3.8 (inlined ones) and 6.2
 * (lines). */
#include "image/lines/unit.h"

#include <libdwarf/dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "image/lines/split.h"
#include "image/name.h"

#define NAME_SIZE   1024
#define MAX_ORIGINS 8 /* steps from an inlined call to its function's declaration */

enum walking {
    FUNCTIONS, /* collects functions, but not what is in them */
    NESTED,    /* ... and nested functions */
    INLINED,   /* collects inlined calls of one function */
};

struct loading {
    struct lines_source *source;
    struct lines_unit *unit;
    enum walking walking;
};

bool lines_spend(struct lines_source *source, uint64_t work)
{
    bool enough = work <= source->work;
    source->work = enough ? source->work - work : 0;
    return enough;
}

static const char *file_name(const struct loading *l, uint64_t number)
{
    return number < l->unit->file_count ? l->unit->files[number] : NULL;
}

/* Up to DWARF 4 files are numbered from 1, in DWARF 5 from 0. */
static int read_files(struct loading *l, Dwarf_Die die)
{
    char **list;
    Dwarf_Signed count;
    if (dwarf_srcfiles(die, &list, &count, NULL) != DW_DLV_OK)
        return 0;
    size_t first = l->unit->version >= 5 ? 0 : 1;
    int rc = lines_spend(l->source, (uint64_t)count) ? 0 : -EOVERFLOW;
    struct lines_unit *unit = l->unit;
    unit->files = calloc((size_t)count + first + 1, sizeof *unit->files);
    unit->file_count = unit->files ? (size_t)count + first : 0;
    if (!unit->files)
        rc = -ENOMEM;
    for (Dwarf_Signed i = 0; i < count; i++) {
        if (rc == 0 && !(unit->files[(size_t)i + first] = arena_strdup(l->source->arena, list[i])))
            rc = -ENOMEM;
        dwarf_dealloc(l->source->debug, list[i], DW_DLA_STRING);
    }
    dwarf_dealloc(l->source->debug, list, DW_DLA_LIST);
    return rc;
}

static int by_row(const void *a, const void *b)
{
    const struct lines_row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->end != y->end) /* one sequence may start where another ends */
        return x->end ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int read_rows(struct loading *l, Dwarf_Die die)
{
    struct lines_unit *unit = l->unit;
    Dwarf_Unsigned version;
    Dwarf_Small tables;
    Dwarf_Line_Context context;
    Dwarf_Line *lines;
    Dwarf_Signed count;
    if (dwarf_srclines_b(die, &version, &tables, &context, NULL) != DW_DLV_OK)
        return 0;
    int rc = 0;
    if (tables == 1 && dwarf_srclines_from_linecontext(context, &lines, &count, NULL) == DW_DLV_OK && count) {
        unit->rows =
            lines_spend(l->source, (uint64_t)count) ? calloc((size_t)count, sizeof *unit->rows) : NULL;
        rc = unit->rows ? 0 : l->source->work ? -ENOMEM : -EOVERFLOW;
        for (Dwarf_Signed i = 0; i < count && rc == 0; i++) {
            Dwarf_Addr address;
            Dwarf_Unsigned line, file, isa, discriminator = 0;
            Dwarf_Bool end, prologue, epilogue;
            if (dwarf_lineaddr(lines[i], &address, NULL) == DW_DLV_OK &&
                dwarf_lineno(lines[i], &line, NULL) == DW_DLV_OK &&
                dwarf_line_srcfileno(lines[i], &file, NULL) == DW_DLV_OK &&
                dwarf_lineendsequence(lines[i], &end, NULL) == DW_DLV_OK &&
                dwarf_prologue_end_etc(lines[i], &prologue, &epilogue, &isa, &discriminator, NULL) ==
                    DW_DLV_OK)
                unit->rows[unit->row_count++] = (struct lines_row){address,
                                                                   (uint32_t)i,
                                                                   line <= UINT32_MAX ? (uint32_t)line : 0,
                                                                   (uint32_t)discriminator,
                                                                   file_name(l, file),
                                                                   end};
        }
    }
    dwarf_srclines_dealloc_b(context);
    if (unit->row_count)
        qsort(unit->rows, unit->row_count, sizeof *unit->rows, by_row);
    return rc;
}

static uint64_t number_of(Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Attribute attribute;
    Dwarf_Unsigned value = 0;
    if (dwarf_attr(die, which, &attribute, NULL) != DW_DLV_OK)
        return 0;
    if (dwarf_formudata(attribute, &value, NULL) != DW_DLV_OK) {
        Dwarf_Signed same = 0;
        if (dwarf_formsdata(attribute, &same, NULL) == DW_DLV_OK && same > 0)
            value = (Dwarf_Unsigned)same;
    }
    dwarf_dealloc_attribute(attribute);
    return value;
}

/* The offset in an attribute: one may have a form for offsets or, in DWARF 3, for numbers. */
static uint64_t offset_of(Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Attribute attribute;
    Dwarf_Off offset = 0;
    if (dwarf_attr(die, which, &attribute, NULL) != DW_DLV_OK)
        return 0;
    if (dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK)
        offset = number_of(die, which);
    dwarf_dealloc_attribute(attribute);
    return offset;
}

/* A DIE's own name, preferably the mangled one, as it includes namespaces and classes. *plain: it is not mangled. */
static bool own_name(Dwarf_Die die, char *out, size_t size, bool *plain)
{
    static const Dwarf_Half kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Dwarf_Attribute attribute;
        char *text;
        if (dwarf_attr(die, kinds[i], &attribute, NULL) != DW_DLV_OK)
            continue;
        /* ("<DW_FORM_GNU_strp_alt-no-tied-file>" is what libdwarf says where a name is in a file of dwz that
         * is not there) */
        bool got =
            dwarf_formstring(attribute, &text, NULL) == DW_DLV_OK && strncmp(text, "<DW_FORM_", 9) != 0;
        *plain = kinds[i] == DW_AT_name;
        if (got)
            snprintf(out, size, "%s", text);
        dwarf_dealloc_attribute(attribute);
        if (got)
            return true;
    }
    return false;
}

/* *debug: of the DIE on entry, of *out on return. */
static bool origin_of(const struct lines_source *source, Dwarf_Debug *debug, Dwarf_Die die, Dwarf_Die *out)
{
    static const Dwarf_Half kinds[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Off offset;
        Dwarf_Half form = 0;
        if (dwarf_attr(die, kinds[i], &attribute, NULL) != DW_DLV_OK)
            continue;
        bool got = dwarf_whatform(attribute, &form, NULL) == DW_DLV_OK;
        Dwarf_Debug of = form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8
                             ? source->shared
                             : *debug;
        got = got && of && dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK &&
              dwarf_offdie_b(of, offset, 1, out, NULL) == DW_DLV_OK;
        dwarf_dealloc_attribute(attribute);
        if (got) {
            *debug = of;
            return true;
        }
    }
    return false;
}

/* A function's name and line by its DIE, or by that of its origin. A plain name is used only if no mangled one
 * follows. *plain: it is plain. */
static void find_name(const struct lines_source *source, Dwarf_Debug debug, Dwarf_Die die, char *out,
                      size_t size, bool *plain, uint32_t *start)
{
    Dwarf_Die at = die, next;
    *plain = false;
    for (unsigned hops = 0; hops < MAX_ORIGINS; hops++) {
        char found[NAME_SIZE];
        bool is_plain;
        if (own_name(at, found, sizeof found, &is_plain) && (!out[0] || (*plain && !is_plain))) {
            snprintf(out, size, "%s", found);
            *plain = is_plain;
        }
        *start = *start ? *start : (uint32_t)number_of(at, DW_AT_decl_line);
        if ((out[0] && !*plain && *start) || !origin_of(source, &debug, at, &next))
            break;
        if (at != die)
            dwarf_dealloc_die(at);
        at = next;
    }
    if (at != die)
        dwarf_dealloc_die(at);
}

static struct lines_name *keep_name(struct lines_source *source, const char *text, bool plain, uint32_t start)
{
    char shown[NAME_SIZE];
    struct lines_name *name = text[0] ? arena_alloc(source->arena, sizeof *name) : NULL;
    if (!name)
        return NULL;
    *name = (struct lines_name){.linkage = arena_strdup(source->arena, text), .start = start};
    name->shown = name->linkage;
    if (!plain) {
        name_format("", text, 0, shown, sizeof shown);
        name->shown = arena_strdup(source->arena, shown);
    }
    return name->shown && name->linkage ? name : NULL;
}

const struct lines_name *lines_unit_name(struct lines_source *source, const struct lines_unit *unit,
                                         const struct lines_scope *scope)
{
    bool added, plain;
    Dwarf_Die die;
    uint64_t *slot = table_put(source->names, scope->die ^ (uint64_t)unit->number << 48, &added);
    if (!slot || !added)
        return slot ? (const struct lines_name *)(uintptr_t)*slot : NULL;
    if (dwarf_offdie_b(unit->debug, scope->die, 1, &die, NULL) != DW_DLV_OK)
        return NULL;
    char text[NAME_SIZE] = "";
    uint32_t start = 0;
    find_name(source, unit->debug, die, text, sizeof text, &plain, &start);
    dwarf_dealloc_die(die);
    *slot = (uint64_t)(uintptr_t)keep_name(source, text, plain, start);
    return (const struct lines_name *)(uintptr_t)*slot;
}

static int add_scope(struct lines_scopes *scopes, const struct lines_scope *scope)
{
    return vec_push(scopes->items, scopes->count, scopes->capacity, *scope) ? 0 : -ENOMEM;
}

static int add_ranges(struct loading *l, Dwarf_Die die, struct lines_scopes *scopes,
                      struct lines_scope *scope)
{
    struct lines_ranges ranges = {0};
    Dwarf_Off offset;
    int rc = lines_ranges_read(&l->unit->ranges, die, &ranges);
    if (dwarf_dieoffset(die, &offset, NULL) != DW_DLV_OK)
        ranges.count = 0;
    else
        scope->die = offset;
    for (size_t i = 0; i < ranges.count && rc == 0; i++) {
        scope->low = ranges.items[i].low;
        scope->high = ranges.items[i].high;
        rc = add_scope(scopes, scope);
    }
    free(ranges.items);
    return rc;
}

static int walk_children(struct loading *l, Dwarf_Die die, unsigned level, uint32_t depth);

/* Visits a DIE: records functions and inlined calls, and descends into DIEs that may contain them. */
static int visit_die(struct loading *l, Dwarf_Die die, unsigned level, uint32_t depth)
{
    Dwarf_Half tag;
    if (!lines_spend(l->source, 1))
        return -EOVERFLOW;
    if (dwarf_tag(die, &tag, NULL) != DW_DLV_OK)
        return 0;
    struct lines_unit *unit = l->unit;
    struct lines_scope scope = {0};
    int rc;
    switch (tag) {
    case DW_TAG_subprogram: {
        size_t before = unit->functions.count;
        rc = l->walking == INLINED ? 0 : add_ranges(l, die, &unit->functions, &scope);
        bool deeper = l->walking == NESTED && unit->functions.count > before;
        return rc < 0 || !deeper ? rc : walk_children(l, die, level + 1, 1);
    }
    case DW_TAG_inlined_subroutine:
        if (l->walking == FUNCTIONS)
            return 0;
        scope.call_file = file_name(l, number_of(die, DW_AT_call_file));
        scope.call_line = (uint32_t)number_of(die, DW_AT_call_line);
        scope.call_discriminator = (uint32_t)number_of(die, DW_AT_GNU_discriminator);
        scope.depth = depth;
        rc = l->walking == INLINED ? add_ranges(l, die, &unit->inlined, &scope) : 0;
        return rc < 0 ? rc : walk_children(l, die, level + 1, depth + 1);
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return walk_children(l, die, level + 1, depth);
    default:
        return 0;
    }
}

static int walk_children(struct loading *l, Dwarf_Die die, unsigned level, uint32_t depth)
{
    Dwarf_Die child, next;
    if (level > LINES_DEPTH_MOST || dwarf_child(die, &child, NULL) != DW_DLV_OK)
        return 0;
    int rc = 0;
    for (;;) {
        rc = visit_die(l, child, level, depth);
        int more = rc == 0 ? dwarf_siblingof_b(l->unit->debug, child, 1, &next, NULL) : DW_DLV_NO_ENTRY;
        dwarf_dealloc_die(child);
        if (more != DW_DLV_OK)
            return rc;
        child = next;
    }
}

static int walk_unit(struct loading *l)
{
    struct lines_unit *unit = l->unit;
    unit->functions.count = 0;
    int rc = walk_children(l, unit->part ? unit->part : unit->die, 0, 0);
    sort_by(unit->functions.items, unit->functions.count, low);
    return rc;
}

int lines_unit_load(struct lines_source *source, struct lines_unit *unit)
{
    struct loading l = {source, unit, FUNCTIONS};
    unit->loaded = true;
    unit->debug = source->debug;
    unit->ranges = (struct lines_ranges_source){.source = source, .version = unit->version};
    if (dwarf_offdie_b(source->debug, unit->offset, 1, &unit->die, NULL) != DW_DLV_OK) {
        unit->die = NULL;
        return 0;
    }
    Dwarf_Addr low;
    if (dwarf_lowpc(unit->die, &low, NULL) == DW_DLV_OK)
        unit->ranges.low = low;
    int rc = read_files(&l, unit->die);
    if (rc == 0)
        rc = read_rows(&l, unit->die);
    struct lines_split_found found;
    if (rc == 0 && unit->split && lines_split_find(source, unit, unit->die, &found)) {
        unit->debug = found.debug;
        unit->number = found.number;
        unit->part = found.part;
    }
    unit->ranges.debug = unit->debug;
    if (unit->part) {
        unit->ranges.program = source->debug;
        unit->ranges.skeleton = unit->die;
        unit->ranges.old_base = offset_of(unit->die, DW_AT_GNU_ranges_base);
        lines_split_lists(unit->debug, &unit->ranges);
    }
    return rc == 0 ? walk_unit(&l) : rc;
}

int lines_unit_nested(struct lines_source *source, struct lines_unit *unit)
{
    struct loading l = {source, unit, NESTED};
    if (unit->nested || !unit->die)
        return 0;
    unit->nested = true;
    return walk_unit(&l);
}

int lines_unit_walk(struct lines_source *source, struct lines_unit *unit, struct lines_scope *function)
{
    struct loading l = {source, unit, INLINED};
    Dwarf_Die die;
    if (function->walked)
        return 0;
    function->walked = true;
    function->first = (uint32_t)unit->inlined.count;
    int rc = 0;
    if (dwarf_offdie_b(unit->debug, function->die, 1, &die, NULL) == DW_DLV_OK) {
        rc = walk_children(&l, die, 1, 1);
        dwarf_dealloc_die(die);
    }
    function->last = (uint32_t)unit->inlined.count;
    return rc;
}

void lines_unit_free(struct lines_unit *unit)
{
    if (unit->part)
        dwarf_dealloc_die(unit->part);
    if (unit->die)
        dwarf_dealloc_die(unit->die);
    free(unit->files);
    free(unit->rows);
    free(unit->functions.items);
    free(unit->inlined.items);
}
