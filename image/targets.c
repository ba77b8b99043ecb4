/* targets.c - the code addresses in an image's data; see image_targets() in image.h. */
#include <errno.h>
#include <string.h>

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

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static void see_relocation(void *context, const struct relocation *word)
{
    see_code(context, word->value);
}

/* A program that is not relocated has pointers without relocations. */
static void see_data(struct seer *s)
{
    elf_file_need_code(s->file, NULL);
    for (size_t i = 0; i < s->file->segment_count; i++) {
        const struct elf_segment *segment = &s->file->segments[i];
        size_t size;
        const uint8_t *bytes =
            segment->executable ? NULL : elf_file_bytes(s->file, segment->address, ELF_REST, &size);
        if (!bytes)
            continue;
        for (size_t at = -segment->address % 8; at + 8 <= size; at += 8)
            see_code(s, word_at(bytes + at));
    }
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
        see_data(&s);
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image->cfi, &ranges);
    for (size_t i = 0; i < count; i++)
        landing_pads_see(&image->file, &ranges[i], see_code, &s);
    return 0;
}
