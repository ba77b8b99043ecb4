/* probe_sites.c - see probe_sites.h. */
#include "image/probe_sites.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "image/calls/exits.h"
#include "image/code/insn.h"
#include "image/elf/symbols.h"
#include "image/image_private.h"
#include "image/markers.h"
#include "image/name.h"

/* Whether the symbol, or the function's name as reports show it, is this name or matches the pattern. */
static bool is_named(const struct symbol *s, const char *name, bool pattern)
{
    char shown[1024];
    if (pattern ? fnmatch(name, s->name, 0) == 0 : strcmp(s->name, name) == 0)
        return true;
    if (s->name[0] != '_') /* names of C++, D and Rust begin with _ */
        return false;
    name_format("", s->name, 0, shown, sizeof shown);
    return pattern ? fnmatch(name, shown, 0) == 0 : strcmp(shown, name) == 0;
}

/* Whether, and which, instruction begins `distance` bytes into the function. */
static enum probe_fault fault_at(const struct image *image, const struct symbol *s, uint64_t distance)
{
    size_t left;
    const uint8_t *code = image_bytes(image, s->address, &left);
    struct insn_reader *reader = insn_reader_new();
    struct insn insn = {0};
    uint64_t at = 0;
    const uint64_t size = image_function(image, image_function_entry(image, s->address))->size;
    bool read = code && reader && distance < left && distance < size;
    for (; read && at < distance; at += insn.length)
        read = insn_read(reader, code + at, left - at, s->address + at, &insn);
    insn_reader_free(reader);
    if (!read || at != distance)
        return PROBE_INSIDE;
    return insn_is_vector(code[at]) ? PROBE_VECTOR : PROBE_FINE;
}

/* Whether the kernel may replace the function's return address: it must be at SP at the function's beginning, and
 * the function must be entered by calls. */
static bool has_return(const struct image *image, const struct symbol *s)
{
    /* These return twice, or to another place. */
    static const char *const twice[] = {"setjmp", "sigsetjmp", "vfork", "getcontext", "swapcontext"};
    const uint64_t address = s->address;
    const struct cfi_row row = cfi_lookup(image_cfi(image), address);
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        if (strcmp(s->name + strspn(s->name, "_"), twice[i]) == 0)
            return false;
    uint64_t entry;
    if (image->go.data || (image_entry(image, &entry) && entry == address))
        return false;
    return row.cfa == CFI_NONE || (row.cfa == CFI_SP && row.cfa_offset == 8 && !row.root);
}

/* Whether it is a function that is called, and no stub for another file's or part of another function. */
static bool is_function(const struct image *image, const struct symbol *s)
{
    const uint32_t function = image_function_entry(image, s->address);
    return s->typed && function != IMAGE_NO_FUNCTION && !image_function_is_stub(image, function);
}

static enum probe_fault fault_of(const struct exits *exits)
{
    bool ends = false;
    for (size_t i = 0; i < exits->count; i++) {
        if (exits->items[i].kind == EXIT_AGAIN)
            return PROBE_AGAIN;
        ends |= exits->items[i].kind != EXIT_HIDDEN;
    }
    return ends ? PROBE_FINE : PROBE_ENDLESS;
}

/* Reports a function's beginning, then its exits. */
static int see_calls(const struct image *image, struct exits_reader **reader, const struct symbol *s,
                     struct probe_site *site, probe_site_see *see, void *context)
{
    static const enum probe_place places[] = {[EXIT_RETURN] = PROBE_RETURN_PLACE,
                                              [EXIT_TAIL] = PROBE_TAIL_PLACE,
                                              [EXIT_HIDDEN] = PROBE_HIDDEN_PLACE};
    struct exits exits = {0};
    int rc = *reader ? 0 : exits_open(image, reader);
    if (rc == 0)
        rc = exits_find(*reader, image_function_entry(image, s->address), &exits);
    if (rc == 0)
        site->fault = fault_of(&exits);
    if (rc == 0)
        rc = see(context, site);
    for (size_t i = 0; rc == 0 && site->fault == PROBE_FINE && i < exits.count; i++) {
        site->place = places[exits.items[i].kind];
        if (image_offset(image, exits.items[i].address, &site->offset))
            rc = see(context, site);
    }
    free(exits.items);
    return rc;
}

static int see_named(const struct image *image, const struct symbols *symbols, const char *name, bool pattern,
                     uint64_t distance, enum probe_of of, probe_site_see *see, void *context, size_t *seen)
{
    struct exits_reader *reader = NULL; /* opened for the first function */
    uint64_t last = UINT64_MAX;
    int rc = 0;
    *seen = 0;
    for (size_t i = 0; rc == 0 && i < symbols->count; i++) {
        const struct symbol *s = &symbols->items[i];
        struct probe_site site = {.name = s->name, .arguments = ""};
        if (s->address == last || !is_named(s, name, pattern) || !is_function(image, s) ||
            !image_offset(image, s->address, &site.offset))
            continue;
        site.offset += distance;
        last = s->address;
        ++*seen;
        site.fault = s->resolver ? PROBE_RESOLVER : fault_at(image, s, distance);
        if (site.fault == PROBE_FINE && of == PROBE_OF_RETURNS && !has_return(image, s))
            site.fault = PROBE_NO_RETURN;
        rc = site.fault == PROBE_FINE && of == PROBE_OF_CALLS
                 ? see_calls(image, &reader, s, &site, see, context)
                 : see(context, &site);
    }
    exits_close(reader);
    return rc;
}

int probe_sites_functions(const struct image *image, const char *name, uint64_t distance, enum probe_of of,
                          probe_site_see *see, void *context)
{
    struct symbols symbols = {0};
    size_t seen = 0;
    int rc = symbols_read(&symbols, &image->file, &image->file);
    if (rc == 0)
        rc = symbols_read(&symbols, &image->debug, &image->file);
    symbols_sort(&symbols);
    if (rc == 0)
        rc = see_named(image, &symbols, name, false, distance, of, see, context, &seen);
    if (rc == 0 && !seen && strpbrk(name, "*?["))
        rc = see_named(image, &symbols, name, true, distance, of, see, context, &seen);
    symbols_free(&symbols);
    return rc;
}

struct looking {
    const struct image *image;
    const char *provider, *name;
    probe_site_see *see;
    void *context;
};

static int see_marker(void *context, const struct marker *marker)
{
    const struct looking *l = context;
    struct probe_site site = {.name = marker->name, .arguments = marker->arguments};
    if (fnmatch(l->provider, marker->provider, 0) != 0 || fnmatch(l->name, marker->name, 0) != 0 ||
        !elf_file_is_code(&l->image->file, marker->address, 1) ||
        !image_offset(l->image, marker->address, &site.offset) ||
        (marker->semaphore && !image_offset(l->image, marker->semaphore, &site.counter)))
        return 0;
    size_t size;
    const uint8_t *code = image_bytes(l->image, marker->address, &size);
    site.fault = code && size && !insn_is_vector(*code) ? PROBE_FINE : PROBE_VECTOR;
    return l->see(l->context, &site);
}

int probe_sites_markers(const struct image *image, const char *provider, const char *name,
                        probe_site_see *see, void *context)
{
    struct looking looking = {image, provider, name, see, context};
    return markers_see(&image->file, see_marker, &looking);
}
