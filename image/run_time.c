/* run_time.c - see run_time.h. */
#include "image/run_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"

#define CODE_SIZE 16u /* bytes of its one function: enough for RUN_TIME_ADDRESS as a return address */

/* Of an image without a file. */
static int build(struct image *image)
{
    struct symbol symbol = {.size = CODE_SIZE, .name = RUN_TIME_NAME, .typed = true};
    const struct symbols symbols = {.items = &symbol, .count = 1};
    const struct cfi_row row = {
        .cfa = CFI_BP, .cfa_offset = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16, .derived = true};
    image->file.code_high = CODE_SIZE;
    image->path = strdup(RUN_TIME_NAME);
    image->name = image->path;
    image->arena = arena_new(0);
    if (!image->path || !image->arena || cfi_table_build(&image->file, &image->cfi, NULL) < 0 ||
        functions_build(&image->file, image->cfi, &symbols, image->arena, &image->functions) < 0 ||
        cfi_table_derive(image->cfi, 0, row) < 0)
        return -ENOMEM;
    cfi_table_derived(image->cfi);
    return 0;
}

int run_time_open(struct image **out)
{
    struct image *image = calloc(1, sizeof *image);
    if (image && build(image) == 0) {
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
