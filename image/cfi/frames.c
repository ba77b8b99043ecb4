/* frames.c - see frames.h. */
#include "image/cfi/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define RETURN_COLUMN 16

struct section {
    const uint8_t *data;
    size_t size;
    uint64_t address;
    bool sized; /* its end is known; otherwise a zero length ends it */
};

/* Finds it by name or, without section headers, by the pointer in .eh_frame_hdr. */
static bool find_section(const struct elf_file *file, struct section *out)
{
    const struct elf_section *s = elf_file_section(file, ".eh_frame");
    struct section found = {.sized = true};
    found.data = elf_section_bytes(file, s, &found.size);
    if (found.data) {
        found.address = s->address;
        *out = found;
        return true;
    }
    size_t size;
    const uint8_t *header = elf_file_bytes(file, file->eh_frame_header, ELF_REST, &size);
    if (!file->eh_frame_header || !header)
        return false;
    struct bytes b = bytes_of(header, size);
    struct pointer_bases bases = {header, file->eh_frame_header, file->eh_frame_header, 0};
    uint8_t version = bytes_u8(&b), encoding = bytes_u8(&b);
    bytes_u16(&b);
    uint64_t address = pointer_read(&b, encoding, &bases);
    if (b.failed || version != 1 || (encoding & POINTER_INDIRECT))
        return false;
    found.data = elf_file_bytes(file, address, ELF_REST, &found.size);
    found.address = address;
    found.sized = false;
    *out = found;
    return found.data != NULL;
}

static uint64_t got_address(const struct elf_file *file)
{
    uint64_t address = 0;
    elf_file_dynamic(file, DT_PLTGOT, &address);
    return address;
}

static void read_augmentation(const char *letters, struct bytes *data, const struct pointer_bases *bases,
                              struct cfi_cie *cie)
{
    for (const char *c = letters; *c && !data->failed; c++) {
        switch (*c) {
        case 'R':
            cie->fde_encoding = bytes_u8(data);
            break;
        case 'L':
            cie->lsda_encoding = bytes_u8(data);
            break;
        case 'P':
            pointer_read(data, bytes_u8(data), bases);
            break;
        case 'S': /* its rows identify a signal frame themselves: see machine.c */
        case 'B':
            break;
        default: /* the rest is unknown; the length skips it */
            return;
        }
    }
}

static void read_cie(struct bytes b, const struct pointer_bases *bases, struct cfi_cie *cie)
{
    *cie = (struct cfi_cie){.bad = true, .lsda_encoding = POINTER_OMIT};
    uint8_t version = bytes_u8(&b);
    const char *augmentation = bytes_string(&b);
    if (!augmentation || (version != 1 && version != 3 && version != 4))
        return;
    if (version == 4) {
        uint8_t address_size = bytes_u8(&b), segment_size = bytes_u8(&b);
        if (address_size != 8 || segment_size != 0)
            return;
    }
    cie->code_alignment = bytes_uleb(&b);
    cie->data_alignment = bytes_sleb(&b);
    uint64_t column = version == 1 ? bytes_u8(&b) : bytes_uleb(&b);
    if (b.failed || column != RETURN_COLUMN)
        return;
    if (augmentation[0] == 'z') {
        uint64_t size = bytes_uleb(&b);
        const uint8_t *at = bytes_take(&b, size);
        if (!at)
            return;
        struct bytes data = bytes_of(at, size);
        cie->augmented = true;
        read_augmentation(augmentation + 1, &data, bases, cie);
        if (data.failed)
            return;
    } else if (augmentation[0]) {
        return;
    }
    struct cfi_machine m = {
        .code_alignment = cie->code_alignment, .data_alignment = cie->data_alignment, .bases = bases};
    m.now.cfa = CFI_UNSUPPORTED;
    m.initial = m.now;
    cie->code = b;
    if (cfi_machine_run(&m, &b) != CFI_END)
        return;
    cie->initial = m.now;
    cie->bad = false;
}

/* The CIE at an offset of the section, read at its first use. *index is SIZE_MAX if there is none. */
static int find_cie(struct cfi_frames *frames, struct table *seen, const struct section *section,
                    uint64_t offset, size_t *index)
{
    *index = SIZE_MAX;
    bool added;
    uint64_t *slot = table_put(seen, offset, &added);
    if (!slot)
        return -ENOMEM;
    if (!added) {
        *index = *slot;
        return 0;
    }
    if (!vec_reserve(frames->cies, frames->cie_count, frames->cie_capacity, 1))
        return -ENOMEM;
    struct bytes b = bytes_of(section->data + offset, section->size - offset);
    uint64_t length = bytes_u32(&b);
    if (length == UINT32_MAX)
        length = bytes_u64(&b);
    const uint8_t *body = bytes_take(&b, length);
    struct cfi_cie *cie = &frames->cies[frames->cie_count];
    *cie = (struct cfi_cie){.bad = true};
    if (body) {
        b = bytes_of(body, length);
        if (bytes_u32(&b) == 0 && !b.failed)
            read_cie(b, &frames->bases, cie);
    }
    *slot = *index = frames->cie_count++;
    return 0;
}

/* false: damaged, or not for code of this file. */
static bool read_fde(const struct elf_file *file, const struct cfi_frames *frames, struct bytes b,
                     size_t cie_index, struct cfi_fde *fde)
{
    const struct cfi_cie *cie = &frames->cies[cie_index];
    if (cie->bad || (cie->fde_encoding & POINTER_INDIRECT))
        return false;
    uint64_t address = pointer_read(&b, cie->fde_encoding, &frames->bases);
    uint64_t size = pointer_read(&b, cie->fde_encoding & 0x0f, &frames->bases), lsda = 0;
    if (cie->augmented) {
        uint64_t length = bytes_uleb(&b);
        const uint8_t *data = bytes_take(&b, length);
        if (data && cie->lsda_encoding != POINTER_OMIT && !(cie->lsda_encoding & POINTER_INDIRECT)) {
            struct bytes d = bytes_of(data, length);
            lsda = pointer_read(&d, cie->lsda_encoding, &frames->bases);
        }
    }
    if (b.failed || size > UINT32_MAX || !elf_file_is_code(file, address, size))
        return false;
    *fde = (struct cfi_fde){address, lsda, (uint32_t)size, (uint32_t)cie_index, b};
    return true;
}

/* Reads all entries in sequence; a length beyond the section ends the walk. */
static int read_entries(const struct elf_file *file, const struct section *section, struct cfi_frames *frames,
                        struct table *seen)
{
    struct bytes b = bytes_of(section->data, section->size);
    while (bytes_left(&b) >= 4) {
        uint64_t length = bytes_u32(&b);
        if (length == UINT32_MAX)
            length = bytes_u64(&b);
        if (length == 0) {
            if (!section->sized)
                return 0;
            continue;
        }
        const uint8_t *body = bytes_take(&b, length);
        if (!body) {
            frames->bad++;
            return 0;
        }
        struct bytes entry = bytes_of(body, length);
        uint64_t back = bytes_u32(&entry), here = (uint64_t)(body - section->data);
        if (back == 0)
            continue; /* a CIE: read when an FDE refers to it */
        if (entry.failed || back > here) {
            frames->bad++;
            continue;
        }
        size_t cie;
        if (find_cie(frames, seen, section, here - back, &cie) < 0)
            return -ENOMEM;
        if (!vec_reserve(frames->fdes, frames->fde_count, frames->fde_capacity, 1))
            return -ENOMEM;
        struct cfi_fde *fde = &frames->fdes[frames->fde_count];
        if (!read_fde(file, frames, entry, cie, fde))
            frames->bad++;
        else if (fde->size)
            frames->fde_count++;
    }
    return 0;
}

static void sort_and_drop_overlaps(struct cfi_frames *frames)
{
    sort_by(frames->fdes, frames->fde_count, address);
    size_t kept = 0;
    for (size_t i = 0; i < frames->fde_count; i++) {
        const struct cfi_fde *last = kept ? &frames->fdes[kept - 1] : NULL;
        if (last && frames->fdes[i].address < last->address + last->size)
            frames->bad++;
        else
            frames->fdes[kept++] = frames->fdes[i];
    }
    frames->fde_count = kept;
}

int cfi_frames_read(const struct elf_file *file, struct cfi_frames *out)
{
    struct cfi_frames frames = {0};
    struct section section;
    int rc = 0;
    if (find_section(file, &section)) {
        frames.bases = (struct pointer_bases){section.data, section.address, got_address(file), 0};
        struct table *seen = table_new();
        rc = seen ? read_entries(file, &section, &frames, seen) : -ENOMEM;
        table_free(seen);
    }
    if (rc < 0) {
        cfi_frames_free(&frames);
        return rc;
    }
    sort_and_drop_overlaps(&frames);
    *out = frames;
    return 0;
}

void cfi_frames_free(struct cfi_frames *frames)
{
    free(frames->cies);
    free(frames->fdes);
    *frames = (struct cfi_frames){0};
}

struct cfi_machine cfi_machine_at(const struct cfi_frames *frames, const struct cfi_fde *fde)
{
    const struct cfi_cie *cie = &frames->cies[fde->cie];
    return (struct cfi_machine){.now = cie->initial,
                                .initial = cie->initial,
                                .location = fde->address,
                                .code_alignment = cie->code_alignment,
                                .data_alignment = cie->data_alignment,
                                .encoding = cie->fde_encoding,
                                .bases = &frames->bases};
}

/* The state before any instruction. A register without a rule still has the caller's value, even if it is one
 * that calls may change: unwinders of .eh_frame assume that (libgcc's unwind-dw2.c), and so does assembler whose
 * function preserves what its only caller needs. */
static struct cfi_registers registers_at_first(void)
{
    struct cfi_registers r = {.cfa = {.where = CFI_UNDEFINED}};
    for (unsigned i = 0; i < CFI_REGISTERS; i++)
        r.of[i].where = CFI_SAME;
    r.of[REGISTER_SP].where = CFI_CFA_PLUS;
    r.of[REGISTER_RETURN].where = CFI_UNDEFINED;
    return r;
}

bool cfi_frames_registers(const struct cfi_frames *frames, uint64_t address, struct cfi_registers *out)
{
    size_t beyond = lower_bound(i, (size_t)0, frames->fde_count, frames->fdes[i].address <= address);
    const struct cfi_fde *fde = beyond ? &frames->fdes[beyond - 1] : NULL;
    if (!fde || address - fde->address >= fde->size)
        return false;
    struct cfi_all all = {.now = registers_at_first()};
    struct bytes initial = frames->cies[fde->cie].code, code = fde->code;
    struct cfi_machine m = cfi_machine_at(frames, fde);
    m.all = &all;
    if (cfi_machine_run(&m, &initial) != CFI_END)
        return false;
    all.initial = all.now;
    m.now = m.initial;
    enum cfi_progress progress;
    do
        progress = cfi_machine_run(&m, &code);
    while (progress == CFI_MOVED && m.location <= address);
    *out = all.now;
    return progress != CFI_BAD;
}
