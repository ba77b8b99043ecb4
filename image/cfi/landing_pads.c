/* landing_pads.c - reads the call-site table of a language-specific data area (.gcc_except_table; the layout
 * is that of gcc's unwind-c.c and of the Itanium C++ ABI's exception handling, section 7). */
#include "image/cfi/landing_pads.h"

#include "base/search.h"
#include "image/elf/pointer.h"

bool landing_pads_see_calls(const struct elf_file *file, const struct cfi_range *range,
                            void (*see)(void *context, uint64_t start, uint64_t end, uint64_t pad),
                            void *context)
{
    size_t size;
    if (!range->lsda)
        return true;
    const uint8_t *data = elf_file_bytes(file, range->lsda, ELF_REST, &size);
    if (!data)
        return false;
    struct bytes b = bytes_of(data, size);
    struct pointer_bases bases = {.section = data, .section_address = range->lsda};
    uint64_t pads = range->address; /* landing pads are relative to this */
    uint8_t encoding = bytes_u8(&b);
    if (encoding != POINTER_OMIT)
        pads = pointer_read(&b, encoding, &bases);
    if (bytes_u8(&b) != POINTER_OMIT)
        bytes_uleb(&b); /* end of the types */
    encoding = bytes_u8(&b) & 0x0f;
    uint64_t length = bytes_uleb(&b);
    const uint8_t *table = bytes_take(&b, length);
    if (b.failed)
        return false;
    struct bytes sites = bytes_of(table, length);
    while (bytes_left(&sites)) {
        uint64_t start = range->address + pointer_read(&sites, encoding, &bases);
        uint64_t end = start + pointer_read(&sites, encoding, &bases);
        uint64_t pad = pointer_read(&sites, encoding, &bases);
        bytes_uleb(&sites); /* action */
        if (sites.failed)
            return false;
        see(context, start, end, pad ? pads + pad : 0);
    }
    return true;
}

struct pad_seer {
    void (*see)(void *context, uint64_t address);
    void *context;
};

static void see_pad(void *context, uint64_t start, uint64_t end, uint64_t pad)
{
    const struct pad_seer *s = context;
    (void)start, (void)end;
    if (pad)
        s->see(s->context, pad);
}

void landing_pads_see(const struct elf_file *file, const struct cfi_range *range,
                      void (*see)(void *context, uint64_t address), void *context)
{
    struct pad_seer s = {see, context};
    landing_pads_see_calls(file, range, see_pad, &s);
}

uint64_t landing_pads_see_part(const struct elf_file *file, const struct cfi *cfi, uint64_t start,
                               uint64_t end,
                               void (*see)(void *context, uint64_t start, uint64_t end, uint64_t pad),
                               void *context)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(cfi, &ranges);
    uint64_t damaged = 0;
    for (size_t i = lower_bound(k, (size_t)0, count, ranges[k].address < start);
         i < count && ranges[i].address < end; i++)
        if (!landing_pads_see_calls(file, &ranges[i], see, context) && !damaged)
            damaged = ranges[i].address;
    return damaged;
}
