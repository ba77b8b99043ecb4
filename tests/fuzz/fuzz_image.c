/* fuzz_image.c - a fuzz target for the ELF, CFI and code readers: opens an image and asks it everything. */
#include <stdlib.h>

#include "collector/probes/marker_arguments.h"
#include "image/calls/calls.h"
#include "image/cfi/cfi.h"
#include "image/derive.h"
#include "image/image.h"
#include "image/lines/lines.h"
#include "image/probe_sites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was promised in the headers. */
static void require(int condition)
{
    if (!condition)
        abort();
}

static void ask_functions(const struct image *image)
{
    char name[64];
    uint64_t end = 0;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        require(f->size > 0 && f->address >= end);
        end = f->address + f->size;
        require(f->owner < image_function_count(image));
        require(image_function(image, f->owner)->owner == f->owner);
        require(image_function_at(image, f->address) == f->owner);
        require(image_function_at(image, end - 1) == f->owner);
        require(image_function_entry(image, f->address) == (f->owner == i ? i : IMAGE_NO_FUNCTION));
        image_function_format(image, i, name, sizeof name);
        size_t left;
        const uint8_t *code = image_bytes(image, f->address, &left);
        require(!code || left > 0);
        if (code)
            require(code[0] + code[left - 1] >= 0);
    }
}

static void ask_cfi(const struct cfi *cfi)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(cfi, &ranges);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        require(ranges[i].size > 0 && ranges[i].address >= end);
        end = ranges[i].address + ranges[i].size;
        const bool damaged = cfi_lookup(cfi, ranges[i].address).cfa == CFI_NONE;
        require(cfi_covers(cfi, ranges[i].address) && cfi_covers(cfi, end - 1));
        require((cfi_lookup(cfi, end - 1).cfa == CFI_NONE) == damaged);
        if (i + 1 == count || ranges[i + 1].address > end)
            require(cfi_lookup(cfi, end).cfa == CFI_NONE);
        if (ranges[i].entry_state && !damaged)
            require(cfi_lookup(cfi, ranges[i].address).cfa == CFI_SP);
        for (uint64_t at = ranges[i].address; at < end && at < ranges[i].address + 256; at++)
            require(cfi_lookup(cfi, at).cfa <= CFI_UNSUPPORTED);
    }
    for (uint64_t at = 0; at < 8192; at += 7)
        cfi_lookup(cfi, at);
    cfi_lookup(cfi, UINT64_MAX);
    struct cfi_statistics s;
    cfi_statistics(cfi, &s);
    require(s.fdes == count && s.unsupported_rows <= s.rows);
}

static void ask_taken(const struct image *image, const struct calls *calls)
{
    uint32_t count = image_function_count(image);
    const uint32_t *taken;
    size_t n = calls_taken(calls, &taken);
    for (size_t i = 0; i < n; i++)
        require(taken[i] < count && (i == 0 || taken[i] > taken[i - 1]));
    for (uint32_t f = 0; f <= count; f++) {
        n = calls_taken_by(calls, f, &taken);
        for (size_t i = 0; i < n; i++)
            require(taken[i] < count);
    }
    const char *const *symbols;
    n = calls_taken_symbols(calls, &symbols);
    for (size_t i = 0; i < n; i++)
        require(symbols[i][0]);
    const struct call_table *tables;
    n = calls_tables(calls, &tables);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < tables[i].count; k++)
            require(tables[i].functions[k] < count || tables[i].functions[k] == IMAGE_NO_FUNCTION);
    const struct call_field *fields;
    n = calls_fields(calls, &fields);
    for (size_t i = 0; i < n; i++) {
        require(fields[i].field >= 0 && fields[i].field < 4096 &&
                (i == 0 || fields[i].field >= fields[i - 1].field));
        require(fields[i].symbol ? fields[i].function == IMAGE_NO_FUNCTION : fields[i].function < count);
    }
    bool resolver;
    require(calls_export(calls, "", &resolver) == IMAGE_NO_FUNCTION);
}

static void ask_calls(const struct image *image)
{
    struct calls *calls;
    const struct call_site *sites, *own;
    require(calls_build(image, &calls, NULL) == 0);
    size_t count = calls_all(calls, &sites), sum = 0;
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        size_t n = calls_of(calls, f, &own);
        for (size_t i = 0; i < n; i++) {
            require(own[i].function == f && image_function_at(image, own[i].address) == f);
            require(i == 0 || own[i].address > own[i - 1].address);
            require((own[i].next == 0) == own[i].tail && own[i].offset >= 0);
            require((own[i].kind == CALL_IMPORT) == (own[i].symbol != NULL));
            require(own[i].tail || calls_before(calls, own[i].next) == &own[i]);
        }
        sum += n;
    }
    require(sum == count);
    ask_taken(image, calls);
    calls_free(calls);
}

static void ask_lines(const struct image *image)
{
    struct line_frame frames[4];
    struct lines *lines;
    if (lines_open_table(image, NULL, &lines, NULL) < 0)
        return;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        for (uint64_t at = 0; at < f->size && at < 256; at++) {
            size_t count = lines_at(lines, f->address + at, frames, 4);
            for (size_t k = 0; k < count && k < 4; k++)
                require(frames[k].function && frames[k].function[0]);
        }
    }
    lines_close(lines);
}

/* What probes would be put on: places in the file, and arguments that the kernel is told. */
static int see_site(void *context, const struct probe_site *site)
{
    struct marker_argument arguments[1][MARKER_ARGUMENTS] = {0};
    char text[64];
    const struct image *image = context;
    uint64_t address;
    require(site->name && site->arguments);
    require(site->fault != PROBE_FINE || image_address(image, site->offset, &address));
    require(marker_arguments_read(site->arguments, arguments[0]) <= MARKER_ARGUMENTS);
    marker_arguments_fields(arguments, 1, 0, text, sizeof text);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_options options = {.no_debug_files = true};
    struct image *image;
    struct fathom_error err = {0};
    int rc = image_open_memory("fuzz.so.1.2", data, size, &options, &image, &err);
    if (rc < 0) {
        require(err.code == -rc && err.text[0]);
        return 0;
    }
    ask_functions(image);
    ask_cfi(image_cfi(image)); /* of FDEs alone */
    require(image_derive_rows(image, UINT64_MAX) == 0);
    for (uint64_t at = 0; at < 8192; at += 7)
        require(cfi_lookup(image_cfi(image), at).cfa <= CFI_UNSUPPORTED);
    ask_calls(image);
    ask_lines(image);
    uint64_t address;
    image_thread_return(image, &address);
    require(probe_sites_markers(image, "*", "*", see_site, image) == 0);
    require(probe_sites_functions(image, "*", 0, PROBE_OF_RETURNS, see_site, image) == 0);
    require(probe_sites_functions(image, "*", 0, PROBE_OF_CALLS, see_site, image) == 0);
    image_address(image, size / 2, &address);
    image_close(image);
    return 0;
}
