/* split.c - see split.h. */
#include "image/lines/split.h"

#include <errno.h>
#include <fcntl.h>
#include <libdwarf/dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "image/elf/elf_file.h"
#include "image/lines/open_debug.h"

#define SPLIT_FILES 512u /* open at once: each holds a descriptor */

struct split_unit {
    uint64_t id, offset; /* of the unit's DIE */
};

struct lines_split_file {
    const char *path;
    Dwarf_Debug debug; /* NULL: unreadable */
    struct split_unit *units;
    uint32_t unit_count, unit_room;
};

static uint64_t number_in(const Dwarf_Sig8 *signature)
{
    uint64_t number;
    memcpy(&number, signature, sizeof number);
    return number;
}

/* Text of an attribute of either name; NULL: it has none. It lives as long as the file. */
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

enum package { PACKAGE_UNTRIED, PACKAGE_NONE, PACKAGE_OLD, PACKAGE_GOOD };

/* A package of GCC's DWARF 4 has an index of version 2, over which libdwarf crashes. */
static enum package package_at(const char *path)
{
    uint16_t version = 0;
    struct elf_file file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return PACKAGE_NONE;
    if (elf_file_open(&file, path, ELF_HEADERS, NULL) == 0) {
        const struct elf_section *index = elf_file_section(&file, ".debug_cu_index");
        if (!index || pread(fd, &version, sizeof version, (off_t)index->offset) != sizeof version)
            version = 0;
        elf_file_close(&file);
    }
    close(fd);
    return version == 5 ? PACKAGE_GOOD : version ? PACKAGE_OLD : PACKAGE_NONE;
}

/* PROGRAM.dwp, if it can be read. */
static void package_path(struct lines_source *source, unsigned n, char *out, size_t size)
{
    if (snprintf(out, size, "%s.dwp", n ? source->path : source->program) >= (int)size)
        out[0] = 0;
    if (out[0] && source->packages[n] == PACKAGE_UNTRIED)
        source->packages[n] = (uint8_t)package_at(out);
    if (source->packages[n] == PACKAGE_OLD && !source->first_missing[0])
        snprintf(source->first_missing, sizeof source->first_missing, "%s has DWARF 4, and", out);
    if (source->packages[n] != PACKAGE_GOOD)
        out[0] = 0;
}

/* A directory, a name below it. */
static void join(const char *directory, size_t length, const char *name, char *out, size_t size)
{
    bool slash = length && directory[length - 1] != '/';
    if (snprintf(out, size, "%.*s%s%s", (int)length, directory, slash ? "/" : "", name) >= (int)size)
        out[0] = 0;
}

/* The n-th path at which the file of a skeleton may be, "": none; false: there are no more. */
static bool candidate(struct lines_source *source, Dwarf_Die skeleton, unsigned n, char *out, size_t size)
{
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    const char *directory = text_of(skeleton, DW_AT_comp_dir, 0);
    const char *slash = strrchr(source->program, '/'), *base = name ? strrchr(name, '/') : NULL;
    out[0] = 0;
    if (n < 2)
        package_path(source, n, out, size);
    else if (n == 2 && name)
        join(directory ? directory : "", directory && name[0] != '/' ? strlen(directory) : 0, name, out,
             size);
    else if (n == 3 && name)
        join(source->program, slash ? (size_t)(slash - source->program) : 0, base ? base + 1 : name, out,
             size);
    return n < 4;
}

void lines_split_check(struct lines_source *source, Dwarf_Die skeleton)
{
    char path[4096];
    for (unsigned n = 0; candidate(source, skeleton, n, path, sizeof path); n++)
        if (path[0] && access(path, R_OK) == 0)
            return;
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    size_t used = strlen(source->first_missing);
    if (source->missing++ == 0)
        snprintf(source->first_missing + used, sizeof source->first_missing - used, "%s%s", used ? " " : "",
                 name ? name : "");
    snprintf(source->lacks, sizeof source->lacks, "%s%s", source->first_missing,
             source->missing > 1 ? " and others are missing" : " is missing");
}

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
        if (good && !vec_push(file->units, file->unit_count, file->unit_room, unit))
            rc = -ENOMEM;
        dwarf_dealloc_die(die);
    }
    return rc;
}

/* The file at a path, opened once. NULL: out of memory, or too many are open. */
static struct lines_split_file *open_file(struct lines_source *source, const char *path)
{
    for (uint32_t i = 0; i < source->split_count; i++)
        if (strcmp(source->splits[i].path, path) == 0)
            return &source->splits[i];
    if (source->split_count == SPLIT_FILES ||
        !vec_reserve(source->splits, source->split_count, source->split_room, 1))
        return NULL;
    struct lines_split_file *file = &source->splits[source->split_count];
    *file = (struct lines_split_file){.path = arena_strdup(source->arena, path)};
    if (!file->path)
        return NULL;
    file->debug = lines_debug_open(path, &source->work);
    source->split_count++;
    if (file->debug) {
        dwarf_set_tied_dbg(file->debug, source->debug, NULL);
        Dwarf_Unsigned lists;
        dwarf_load_rnglists(file->debug, &lists, NULL);
        if (index_units(file) < 0)
            return NULL;
    }
    return file;
}

int lines_split_find(struct lines_source *source, const struct lines_unit *unit, Dwarf_Die skeleton,
                     Dwarf_Debug *debug, uint32_t *number, Dwarf_Die *out)
{
    char path[4096];
    for (unsigned n = 0; candidate(source, skeleton, n, path, sizeof path); n++) {
        if (!path[0] || access(path, R_OK) != 0)
            continue;
        const struct lines_split_file *file = open_file(source, path);
        for (uint32_t i = 0; file && i < file->unit_count; i++)
            if (file->units[i].id == unit->split_id &&
                dwarf_offdie_b(file->debug, file->units[i].offset, 1, out, NULL) == DW_DLV_OK) {
                *debug = file->debug;
                *number = (uint32_t)(file - source->splits) + 1;
                return 0;
            }
    }
    return 0;
}

void lines_split_lists(Dwarf_Debug debug, Dwarf_Die part, struct lines_ranges_source *out)
{
    Dwarf_Debug_Fission_Per_CU place = {0};
    Dwarf_Unsigned start, entries, array, first, end;
    Dwarf_Small sizes[4];
    unsigned version;
    /* all lists of a .dwo file are its only unit's */
    bool packaged = dwarf_get_debugfission_for_die(part, &place, NULL) == DW_DLV_OK;
    for (uint64_t i = 0;
         dwarf_get_rnglist_context_basics(debug, i, &start, &sizes[0], &sizes[1], &version, &sizes[2],
                                          &sizes[3], &entries, &array, &first, &end, NULL) == DW_DLV_OK;
         i++)
        if (!packaged || start == place.pcu_offset[DW_SECT_RNGLISTS]) {
            out->lists = i;
            out->lists_end = end;
            return;
        }
}

void lines_split_close(struct lines_source *source)
{
    for (uint32_t i = 0; i < source->split_count; i++) {
        if (source->splits[i].debug)
            dwarf_finish(source->splits[i].debug, NULL);
        free(source->splits[i].units);
    }
    free(source->splits);
}
