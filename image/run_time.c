/* run_time.c - see run_time.h. */
#include "image/run_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"
#include "image/made/code_names.h"

/* Adds a function. In bytes of code it has enough for RUN_TIME_ADDRESS as a return address. */
static int add(struct symbols *symbols, struct image *image, uint64_t address, const char *text)
{
    const char *name = arena_strdup(image->arena, text);
    const struct symbol symbol = {
        .address = address, .size = CODE_FUNCTION_SIZE, .name = name, .typed = true};
    image->file.code_high = address + CODE_FUNCTION_SIZE;
    return name ? symbols_add(symbols, &symbol) : -ENOMEM;
}

static int add_all(struct symbols *symbols, struct image *image, const struct code_names *names)
{
    const struct code_function *functions = NULL;
    const size_t count = names ? code_names_functions(names, &functions) : 0;
    int rc = add(symbols, image, 0, RUN_TIME_NAME);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add(symbols, image, functions[i].address, functions[i].name);
    return rc;
}

/* Of an image without a file. */
static int build(struct image *image, const struct code_names *names)
{
    struct symbols symbols = {0};
    const struct cfi_row row = {
        .cfa = CFI_BP, .cfa_offset = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16, .derived = true};
    image->path = strdup(RUN_TIME_NAME);
    image->name = image->path;
    image->arena = arena_new(0);
    const bool good =
        image->path && image->arena && add_all(&symbols, image, names) == 0 &&
        cfi_table_build(&image->file, &image->cfi, NULL) == 0 &&
        functions_build(&image->file, image->cfi, &symbols, image->arena, &image->functions) == 0 &&
        cfi_table_derive(image->cfi, 0, row) == 0;
    symbols_free(&symbols);
    if (!good)
        return -ENOMEM;
    cfi_table_derived(image->cfi);
    return 0;
}

int run_time_open(const struct code_names *names, struct image **out)
{
    struct image *image = calloc(1, sizeof *image);
    if (image && build(image, names) == 0) {
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
