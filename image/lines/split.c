/* split.c - see split.h. */
#include "image/lines/split.h"

#include <errno.h>
#include <libdwarf/dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "image/lines/open_debug.h"
#include "image/lines/part.h"

#define SPLIT_FILES   4096u /* open at once, each with some 100 KB: enough for the samples of most programs */
#define CHILDREN_MOST 100000u /* of a unit that are searched in advance */
#define PACKAGES      2u      /* places where PROGRAM.dwp can be */

struct split_unit {
    uint64_t id, offset; /* of the unit's DIE */
};

/* A .dwo file, or one part of a larger file (part.h). */
struct lines_split_file {
    const char *path;
    uint64_t id;                /* of the part; 0: the file has only this one, or several of DWARF 4 */
    Dwarf_Debug debug;          /* NULL: unreadable */
    struct lines_debug *opened; /* owns it */
    struct split_unit *units;
    uint32_t unit_count, unit_capacity;
};

static uint64_t number_in(const Dwarf_Sig8 *signature)
{
    uint64_t number;
    memcpy(&number, signature, sizeof number);
    return number;
}

/* The text of an attribute that has one of two names; NULL: none. It lives as long as the file. */
static const char *text_of(Dwarf_Die die, Dwarf_Half first, Dwarf_Half second)
{
    Dwarf_Attribute attribute;
    char *text;
    if (dwarf_attr(die, first, &attribute, NULL) != DW_DLV_OK &&
        (!second || dwarf_attr(die, second, &attribute, NULL) != DW_DLV_OK))
        return NULL;
    bool got = dwarf_formstring(attribute, &text, NULL) == DW_DLV_OK;
    dwarf_dealloc_attribute(attribute);
    return got ? text : NULL;
}

bool lines_split_id(Dwarf_Die die, const Dwarf_Sig8 *header, uint64_t *id)
{
    *id = number_in(header); /* (of DWARF 4, libdwarf takes it from DW_AT_GNU_dwo_id) */
    return text_of(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name) != NULL;
}

/* PROGRAM.dwp, opened once; NULL: none. */
static const struct part_file *package_at(struct lines_source *source, unsigned n, char *out, size_t size)
{
    if (snprintf(out, size, "%s.dwp", n ? source->path : source->program) >= (int)size)
        return NULL;
    if (!source->tried[n]) {
        source->tried[n] = true;
        source->packages[n] = part_file_open(out);
    }
    const struct part_file *package = source->packages[n];
    return package && part_file_is_package(package) ? package : NULL;
}

/* Joins a directory (of `length` bytes) and a name. */
static void join_path(const char *directory, size_t length, const char *name, char *out, size_t size)
{
    bool slash = length && directory[length - 1] != '/';
    if (snprintf(out, size, "%.*s%s%s", (int)length, directory, slash ? "/" : "", name) >= (int)size)
        out[0] = 0;
}

/* Joins a file's directory and a name. */
static void join_beside(const char *file, const char *name, char *out, size_t size)
{
    const char *slash = strrchr(file, '/');
    join_path(file, slash ? (size_t)(slash - file) : 0, name, out, size);
}

/* The n-th possible path of a skeleton's file (not a package). "": none; false: there are no more. */
static bool candidate_path(const struct lines_source *source, Dwarf_Die skeleton, unsigned n, char *out,
                           size_t size)
{
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    const char *directory = text_of(skeleton, DW_AT_comp_dir, 0);
    const char *base = name ? strrchr(name, '/') : NULL;
    out[0] = 0;
    if (!name)
        return false;
    base = base ? base + 1 : name;
    switch (n) {
    case 0:
        join_path(directory ? directory : "", directory && name[0] != '/' ? strlen(directory) : 0, name, out,
                  size);
        return true;
    case 1: /* the directory may be relative, to make builds reproducible in any directory */
        join_beside(source->program, name[0] == '/' ? name + 1 : name, out, size);
        return true;
    case 2:
        join_beside(source->program, base, out, size);
        return true;
    case 3: /* the file being read may be elsewhere (--symfs, a cache) */
        join_beside(source->path, name[0] == '/' ? name + 1 : name, out, size);
        return true;
    case 4:
        join_beside(source->path, base, out, size);
        return true;
    default:
        return false;
    }
}

enum have { HAVE_NOT, HAVE_OTHER, HAVE_UNREADABLE, HAVE_NAMELESS, HAVE_PART };

static int index_units(struct lines_split_file *file)
{
    Dwarf_Unsigned length, type_offset, next;
    Dwarf_Half version, address_size, length_size, extension_size, type;
    Dwarf_Off abbreviations, offset;
    Dwarf_Sig8 signature;
    Dwarf_Die die;
    int rc = 0;
    while (rc == 0 && dwarf_next_cu_header_d(file->debug, 1, &length, &version, &abbreviations, &address_size,
                                             &length_size, &extension_size, &signature, &type_offset, &next,
                                             &type, NULL) == DW_DLV_OK) {
        if (dwarf_siblingof_b(file->debug, NULL, 1, &die, NULL) != DW_DLV_OK)
            continue;
        struct split_unit unit = {number_in(&signature), 0};
        bool good = type != DW_UT_split_type && dwarf_dieoffset(die, &offset, NULL) == DW_DLV_OK;
        unit.offset = good ? offset : 0;
        if (good && !vec_push(file->units, file->unit_count, file->unit_capacity, unit))
            rc = -ENOMEM;
        dwarf_dealloc_die(die);
    }
    return rc;
}

/* Whether the part's functions lack a reference to the declaration that has their names: GCC's link-time
 * optimization writes that debug information early, to no part, and a part can only refer to itself. */
static bool is_nameless(Dwarf_Debug debug, Dwarf_Die part)
{
    Dwarf_Die child, next;
    bool nameless = false;
    if (dwarf_child(part, &child, NULL) != DW_DLV_OK)
        return false;
    for (unsigned i = 0;; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Off offset;
        if (dwarf_attr(child, DW_AT_abstract_origin, &attribute, NULL) == DW_DLV_OK) {
            nameless |= dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK && offset == 0;
            dwarf_dealloc_attribute(attribute);
        }
        int more = nameless || i == CHILDREN_MOST ? DW_DLV_NO_ENTRY
                                                  : dwarf_siblingof_b(debug, child, 1, &next, NULL);
        dwarf_dealloc_die(child);
        if (more != DW_DLV_OK)
            return nameless;
        child = next;
    }
}

/* What a file really has that claims this number in its headers. */
static enum have inspect_part(const struct part_file *file, uint64_t id)
{
    struct lines_split_file opened = {0};
    uint64_t work = 0;
    struct lines_debug *debug = lines_debug_open_sections(part_file_extract(file, id), &work);
    enum have have = HAVE_OTHER;
    Dwarf_Die part;
    if (!debug)
        return HAVE_UNREADABLE;
    opened.debug = debug->dwarf;
    index_units(&opened);
    for (uint32_t i = 0; i < opened.unit_count; i++)
        if (opened.units[i].id == id &&
            dwarf_offdie_b(opened.debug, opened.units[i].offset, 1, &part, NULL) == DW_DLV_OK) {
            have = is_nameless(opened.debug, part) ? HAVE_NAMELESS : HAVE_PART;
            dwarf_dealloc_die(part);
        }
    lines_debug_close(debug);
    free(opened.units);
    return have;
}

/* What a file has for a skeleton. DWARF 4 has the number only among the DIEs. */
static enum have have_in(const struct part_file *file, Dwarf_Die skeleton, uint64_t id, uint16_t version)
{
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    if (!file || !part_file_has_any(file))
        return HAVE_UNREADABLE;
    if (!part_file_has(file, id))
        return HAVE_OTHER;
    return version >= 5 && !(name && strstr(name, ".ltrans")) ? HAVE_PART : inspect_part(file, id);
}

/* What is at a path named by a skeleton. */
static enum have look_at_path(const char *path, Dwarf_Die skeleton, uint64_t id, uint16_t version)
{
    if (!path[0] || access(path, F_OK) != 0)
        return HAVE_NOT;
    struct part_file *file = part_file_open(path);
    enum have have = have_in(file, skeleton, id, version);
    part_file_close(file);
    return have;
}

static const char *const lacks[][2] = {
    [HAVE_NOT] = {" is missing", " and others are missing"},
    [HAVE_OTHER] = {" is of another compilation", " and others are of another compilation, or missing"},
    [HAVE_UNREADABLE] = {" cannot be read", " and others cannot be read, or are missing"},
    [HAVE_NAMELESS] = {
        " has no names of functions, as GCC's -flto leaves them out",
        " and others have no names of functions, as GCC's -flto leaves them out, or are missing"}};

void lines_split_check(struct lines_source *source, Dwarf_Die skeleton, uint64_t id, uint16_t version)
{
    char path[4096];
    enum have best = HAVE_NOT;
    for (unsigned n = 0; n < PACKAGES; n++) {
        const struct part_file *package = package_at(source, n, path, sizeof path);
        enum have have = package ? have_in(package, skeleton, id, version) : HAVE_NOT;
        if (have == HAVE_PART)
            return;
        if (have > HAVE_OTHER) /* a package need not have all units */
            best = have;
    }
    for (unsigned n = 0; candidate_path(source, skeleton, n, path, sizeof path); n++) {
        enum have have = look_at_path(path, skeleton, id, version);
        if (have == HAVE_PART)
            return;
        if (have > best)
            best = have;
    }
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    if (source->missing++ == 0) {
        snprintf(source->first_missing, sizeof source->first_missing, "%s", name ? name : "");
        source->first_lack = (uint8_t)best;
    }
    snprintf(source->lacks, sizeof source->lacks, "%s%s", source->first_missing,
             lacks[source->first_lack][source->missing > 1]);
}

/* Opens the part of a file, once. package: the package at the path, or NULL. NULL: out of memory, or too many are
 * open. */
static struct lines_split_file *open_part(struct lines_source *source, const char *path,
                                          const struct part_file *package, uint64_t id)
{
    for (uint32_t i = 0; i < source->split_count; i++)
        if (source->splits[i].id == id && strcmp(source->splits[i].path, path) == 0)
            return &source->splits[i];
    if (source->split_count == SPLIT_FILES ||
        !vec_reserve(source->splits, source->split_count, source->split_capacity, 1))
        return NULL;
    struct lines_split_file *file = &source->splits[source->split_count];
    *file = (struct lines_split_file){.path = arena_strdup(source->arena, path), .id = id};
    if (!file->path)
        return NULL;
    struct part_file *own = package ? NULL : part_file_open(path);
    struct sections *part = package || own ? part_file_extract(package ? package : own, id) : NULL;
    part_file_close(own);
    file->opened = lines_debug_open_sections(part, &source->work);
    file->debug = file->opened ? file->opened->dwarf : NULL;
    source->split_count++;
    /* Not tied to the program's file, as libdwarf would use the first skeleton's tables for its strings. */
    if (file->debug) {
        Dwarf_Unsigned lists;
        dwarf_load_rnglists(file->debug, &lists, NULL);
        if (index_units(file) < 0)
            return NULL;
    }
    return file;
}

static bool take_part(struct lines_source *source, const char *path, const struct part_file *package,
                      uint64_t id, struct lines_split_found *out)
{
    const struct lines_split_file *file = open_part(source, path, package, id);
    for (uint32_t i = 0; file && i < file->unit_count; i++)
        if (file->units[i].id == id &&
            dwarf_offdie_b(file->debug, file->units[i].offset, 1, &out->part, NULL) == DW_DLV_OK) {
            out->debug = file->debug;
            out->number = (uint32_t)(file - source->splits) + 1;
            return true;
        }
    return false;
}

bool lines_split_find(struct lines_source *source, const struct lines_unit *unit, Dwarf_Die skeleton,
                      struct lines_split_found *out)
{
    char path[4096];
    for (unsigned n = 0; n < PACKAGES; n++) {
        const struct part_file *package = package_at(source, n, path, sizeof path);
        if (package && part_file_has(package, unit->split_id) &&
            take_part(source, path, package, unit->split_id, out))
            return true;
    }
    for (unsigned n = 0; candidate_path(source, skeleton, n, path, sizeof path); n++)
        if (path[0] && access(path, R_OK) == 0 && take_part(source, path, NULL, unit->split_id, out))
            return true;
    return false;
}

void lines_split_lists(Dwarf_Debug debug, struct lines_ranges_source *out)
{
    Dwarf_Unsigned start, entries, array, first, end;
    Dwarf_Small sizes[4];
    unsigned version;
    /* all lists of a .dwo file belong to its only unit */
    if (dwarf_get_rnglist_context_basics(debug, 0, &start, &sizes[0], &sizes[1], &version, &sizes[2],
                                         &sizes[3], &entries, &array, &first, &end, NULL) == DW_DLV_OK) {
        out->lists = 0;
        out->lists_end = end;
    }
}

void lines_split_close(struct lines_source *source)
{
    for (uint32_t i = 0; i < source->split_count; i++) {
        lines_debug_close(source->splits[i].opened);
        free(source->splits[i].units);
    }
    free(source->splits);
    for (unsigned n = 0; n < PACKAGES; n++)
        part_file_close(source->packages[n]);
}
