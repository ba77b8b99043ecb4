/* fuzz_block_map.c - a fuzz target for sections with the addresses of basic blocks. The first byte: whether it has a version. */
#include <stdlib.h>

#include "image/block_map.h"
#include "image/image_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *context, const struct mapped_function *f, struct fathom_error *err)
{
    (void)context;
    (void)err;
    for (size_t i = 0; i < f->count; i++) {
        const struct mapped_block *b = &f->blocks[i];
        if (b->address + b->size < b->address || (i && b->address < b[-1].address))
            abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct elf_section section = {.name = ".llvm_bb_addr_map",
                                  .type = data[0] & 1 ? 0x6fff4c0a : 0x6fff4c08,
                                  .offset = 1,
                                  .size = size - 1,
                                  .file_size = size - 1};
    const struct image image = {
        .path = (char[]){"fuzz"},
        .file = {.data = data, .size = size, .sections = &section, .section_count = 1}};
    struct fathom_error err = {0};
    const int rc = block_map_read(&image, see, NULL, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    return 0;
}
