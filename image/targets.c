/* targets.c - the code addresses in an image's data; see image_targets() in image.h. */
#include <errno.h>

#include "image/cfi/landing_pads.h"
#include "image/elf/relocations.h"
#include "image/elf/symbols.h"
#include "image/image_private.h"

struct seer {
    const struct elf_file *file;
    void (*see)(void *context, uint64_t address);
    void *context;
};

static void see_code(void *context, uint64_t address)
{
    const struct seer *s = context;
    if (elf_file_is_code(s->file, address, 1))
        s->see(s->context, address);
}

static void see_relocation(void *context, const struct relocation *word)
{
    see_code(context, word->value);
}

static void see_word(void *context, uint64_t address, uint64_t word)
{
    (void)address;
    see_code(context, word);
}

int image_targets(const struct image *image, void (*see)(void *context, uint64_t address), void *context)
{
    struct seer s = {&image->file, see, context};
    struct symbols symbols = {0};
    int rc = symbols_read(&symbols, &image->file, &image->file);
    for (size_t i = 0; i < symbols.count && rc == 0; i++)
        see_code(&s, symbols.items[i].address);
    symbols_free(&symbols);
    if (rc < 0)
        return rc;
    relocations_see(&image->file, see_relocation, &s);
    if (image->file.type == ET_EXEC)
        elf_file_see_words(&image->file, see_word, &s); /* pointers without relocations */
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image->cfi, &ranges);
    for (size_t i = 0; i < count; i++)
        landing_pads_see(&image->file, &ranges[i], see_code, &s);
    return 0;
}
