/* landing_pads.c - reads the call-site table of a language-specific data area (.gcc_except_table; the layout
 * is that of gcc's unwind-c.c and of the Itanium C++ ABI's exception handling, section 7). */
#include "image/cfi/landing_pads.h"

#include "image/elf/pointer.h"

void landing_pads_see(const struct elf_file *file, const struct cfi_range *range,
                      void (*see)(void *context, uint64_t address), void *context)
{
    size_t size;
    const uint8_t *data = range->lsda ? elf_file_bytes(file, range->lsda, &size) : NULL;
    if (!data)
        return;
    struct bytes b = bytes_of(data, size);
    struct pointer_bases bases = {.section = data, .section_address = range->lsda};
    uint64_t start = range->address; /* landing pads are relative to this */
    uint8_t encoding = bytes_u8(&b);
    if (encoding != POINTER_OMIT)
        start = pointer_read(&b, encoding, &bases);
    if (bytes_u8(&b) != POINTER_OMIT)
        bytes_uleb(&b); /* end of the types */
    encoding = bytes_u8(&b) & 0x0f;
    uint64_t length = bytes_uleb(&b);
    const uint8_t *table = bytes_take(&b, length);
    if (b.failed)
        return;
    struct bytes sites = bytes_of(table, length);
    while (bytes_left(&sites)) {
        pointer_read(&sites, encoding, &bases); /* the calls' start */
        pointer_read(&sites, encoding, &bases); /* and length */
        uint64_t pad = pointer_read(&sites, encoding, &bases);
        bytes_uleb(&sites); /* action */
        if (sites.failed)
            return;
        if (pad)
            see(context, start + pad);
    }
}
