/* run_time.c - see run_time.h. */
#include "image/run_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"
#include "image/made/code_names.h"

/* Adds a function. Its size includes an address for each of its places. */
static int add_function(struct symbols *symbols, struct image *image, const struct code_function *function)
{
    const char *name = arena_strdup(image->arena, function->name);
    const struct symbol symbol = {
        .address = function->address, .size = function->size, .name = name, .typed = true};
    image->file.code_high = function->address + function->size;
    return name ? symbols_add(symbols, &symbol) : -ENOMEM;
}

static int add_all(struct symbols *symbols, struct image *image, const struct code_names *names)
{
    const struct code_function *functions = NULL;
    const size_t count = names ? code_names_functions(names, &functions) : 0;
    int rc = add_function(symbols, image,
                          &(struct code_function){.name = RUN_TIME_NAME, .size = CODE_FUNCTION_SIZE});
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_function(symbols, image, &functions[i]);
    return rc;
}

/* Adds the rows of the function's places for which they are known. */
static int derive_places(struct cfi *cfi, const struct code_function *function, struct cfi_row other)
{
    bool own = false; /* the row before is a place's own */
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < function->places; i++) {
        const struct cfi_row row = code_place_row(&function->place[i]);
        if (row.cfa != CFI_NONE || own)
            rc = cfi_table_derive(cfi, function->address + 2 + i, row.cfa != CFI_NONE ? row : other);
        own = row.cfa != CFI_NONE;
    }
    return rc == 0 && own ? cfi_table_derive(cfi, function->address + 2 + function->places, other) : rc;
}

static int derive_all(struct cfi *cfi, const struct code_names *names)
{
    const struct cfi_row row = {
        .cfa = CFI_BP, .cfa_offset = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16, .derived = true};
    const struct code_function *functions = NULL;
    const size_t count = names ? code_names_functions(names, &functions) : 0;
    int rc = cfi_table_derive(cfi, 0, row);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = derive_places(cfi, &functions[i], row);
    cfi_table_derived(cfi);
    return rc;
}

/* Builds an image without a file. */
static int build_image(struct image *image, const struct code_names *names)
{
    struct symbols symbols = {0};
    image->path = strdup(RUN_TIME_NAME);
    image->name = image->path;
    image->arena = arena_new(0);
    const bool good =
        image->path && image->arena && add_all(&symbols, image, names) == 0 &&
        cfi_table_build(&image->file, &image->cfi, NULL) == 0 &&
        functions_build(&image->file, image->cfi, &symbols, image->arena, &image->functions) == 0 &&
        derive_all(image->cfi, names) == 0;
    symbols_free(&symbols);
    image->code_names = names;
    return good ? 0 : -ENOMEM;
}

int run_time_open(const struct code_names *names, struct image **out)
{
    struct image *image = calloc(1, sizeof *image);
    if (image && build_image(image, names) == 0) {
        *out = image;
        return 0;
    }
    image_close(image);
    return -ENOMEM;
}

bool image_is_run_time(const struct image *image)
{
    return !image->file.segment_count;
}

bool image_makes_code(const struct image *image)
{
    return image->makes_code;
}

bool run_time_is_runtime(const struct elf_file *file)
{
    return symbols_any(file, "v8dbg_") || symbols_any(file, "gHotSpotVMStructs");
}
