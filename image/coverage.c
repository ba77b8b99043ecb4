/* coverage.c - see coverage.h. */
#include "image/coverage.h"

#include <errno.h>

#include "image/code/code.h"
#include "image/derive.h"
#include "image/image_private.h"

/* Bytes of [from, to) that are not padding between functions: nops, int3 and zeros. */
static uint64_t count_code(const struct elf_file *file, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    size_t size = 0;
    const uint8_t *bytes = from < to ? elf_file_bytes(file, from, to - from, &size) : NULL;
    if (!bytes)
        return 0;
    for (size_t at = 0; at < size;) {
        struct code_insn insn;
        if (bytes[at] == 0xcc || bytes[at] == 0) {
            at++;
            continue;
        }
        if (!code_read(bytes + at, size - at, from + at, &insn))
            return count + (size - at);
        count += insn.kind == CODE_NOP ? 0 : insn.length;
        at += insn.length;
    }
    return count;
}

/* One executable section. */
static void add_section(const struct image *image, const struct elf_section *section,
                        struct image_coverage *out)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image->cfi, &ranges);
    uint64_t at = section->address, end = at + section->file_size;
    for (size_t i = 0; i < count && at < end; i++) {
        uint64_t from = ranges[i].address, to = from + ranges[i].size;
        if (to <= at)
            continue;
        if (from >= end)
            break;
        if (from > at)
            out->code += count_code(&image->file, at, from);
        uint64_t first = from > at ? from : at, last = to < end ? to : end;
        out->code += last - first;
        out->covered += last - first;
        at = last;
    }
    out->code += count_code(&image->file, at, end);
}

/* Keeps the largest ones. */
static void list_function(const struct image *image, uint32_t index, struct image_coverage *out)
{
    uint32_t size = image_function(image, index)->size;
    uint32_t at = out->listed_count < COVERAGE_LISTED ? out->listed_count++ : COVERAGE_LISTED;
    for (; at > 0 && image_function(image, out->listed[at - 1])->size < size; at--)
        if (at < COVERAGE_LISTED)
            out->listed[at] = out->listed[at - 1];
    if (at < COVERAGE_LISTED)
        out->listed[at] = index;
}

static void add_functions(const struct image *image, struct image_coverage *out)
{
    out->functions = image_function_count(image);
    for (uint32_t i = 0; i < out->functions; i++) {
        const struct image_function *f = image_function(image, i);
        const struct cfi_row row = cfi_lookup(image->cfi, f->address);
        out->named += f->name != NULL;
        out->derived += row.cfa != CFI_NONE && row.derived ? f->size : 0;
        if (row.cfa != CFI_NONE)
            continue;
        out->uncovered++;
        out->bare += f->size;
        list_function(image, i, out);
    }
}

int image_coverage(struct image *image, struct image_coverage *out)
{
    const struct elf_file *debug = image->debug.data ? &image->debug : NULL;
    *out = (struct image_coverage){.debug_file = image->debug_path};
    for (size_t i = 0; i < image->file.section_count; i++) {
        const struct elf_section *s = &image->file.sections[i];
        if (s->flags & SHF_EXECINSTR && s->flags & SHF_ALLOC && s->file_size)
            add_section(image, s, out);
    }
    if (image_derive_rows(image, DERIVE_WHOLE_MOST) < 0)
        return -ENOMEM;
    add_functions(image, out);
    out->names = elf_file_section(&image->file, ".symtab") ? COVERAGE_OWN
                 : image->debug_path                       ? COVERAGE_DEBUG_FILE
                 : debug                                   ? COVERAGE_EMBEDDED
                                                           : COVERAGE_EXPORTED;
    out->go = elf_file_section(&image->file, ".go.buildinfo");
    out->lines = elf_file_has_debug_info(&image->file) || (debug && elf_file_has_debug_info(debug));
    return 0;
}
