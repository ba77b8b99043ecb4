/*
 * output.c - assembles the new file: the old one, the segment behind it, and headers for it (System V ABI,
 * chapters 4 and 5). See work.h.
 *
 * The segment needs a program header. PT_GNU_PROPERTY's is reused if a PT_NOTE covers the same note: on x86 glibc
 * reads the CET bits from either (sysdeps/x86/dl-prop.h), and the kernel from neither. Otherwise the table of
 * program headers moves to the segment's start. Kernels before 5.18 expect it as far from the first segment in
 * memory as in the file, so the segment then has the same distance between address and file offset as the first
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "rewrite/move/appended.h"
#include "rewrite/move/work.h"

#define PAGE     0x1000ull
#define LARGE    (1u << 20)   /* bytes; of a function */
#define GAP_MOST (1ull << 26) /* limit of zero bytes in the file for memory that has no bytes in it */

#ifndef PT_GNU_PROPERTY
#define PT_GNU_PROPERTY 0x6474e553
#endif

static uint64_t page_up(uint64_t value)
{
    return (value + PAGE - 1) & ~(PAGE - 1);
}

/* Whether the program header can be reused. */
static bool is_spare(const struct move_survey *survey, const Elf64_Phdr *ph)
{
    Elf64_Phdr note;
    if (ph->p_type == PT_NULL)
        return true;
    for (size_t i = 0; ph->p_type == PT_GNU_PROPERTY && survey_segment(survey, i, &note); i++)
        if (note.p_type == PT_NOTE && note.p_offset == ph->p_offset && note.p_filesz == ph->p_filesz &&
            note.p_align == ph->p_align)
            return true;
    return false;
}

/* eu-elflint (0.188) takes words before a segment for part of it, as many bytes as the size of the function that
 * they point to. */
static uint64_t largest_function(const struct move_survey *survey)
{
    const struct functions *functions = &survey->image->functions;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < functions->count; i++)
        if (functions->items[i].size > largest && functions->items[i].size <= LARGE)
            largest = functions->items[i].size;
    return largest;
}

int move_output_plan(const struct move_survey *survey, struct move_output *out, struct fathom_error *err)
{
    Elf64_Phdr ph;
    uint64_t end = 0, base = 0;
    size_t count = 0;
    bool loaded = false, indexed = false, spare = false;
    for (; survey_segment(survey, count, &ph); count++) {
        spare |= is_spare(survey, &ph);
        indexed |= ph.p_type == PT_GNU_EH_FRAME;
        if (ph.p_type != PT_LOAD)
            continue;
        if (!loaded)
            base = ph.p_vaddr - ph.p_offset;
        loaded = true;
        if (ph.p_vaddr + ph.p_memsz > end)
            end = ph.p_vaddr + ph.p_memsz;
    }
    const char *path = image_path(survey->image);
    if (!loaded || !indexed)
        return error_set(err, ENOTSUP, "%s has no %s", path, loaded ? ".eh_frame_hdr" : "segment to load");
    if (appended_bytes(survey->data, survey->size))
        return error_set(err, ENOTSUP, "%s: something is appended to it, which has to stay at its end", path);
    out->base = base;
    out->move_headers = !spare;
    out->address = page_up(end + largest_function(survey));
    out->offset = page_up(survey->size);
    out->header_bytes = spare ? 0 : (count + 1) * sizeof ph;
    if (!spare) {
        if (out->address - base < out->offset)
            out->address = base + out->offset;
        out->offset = out->address - base;
    }
    if (out->offset - survey->size > GAP_MOST || out->address % PAGE || out->offset % PAGE)
        return error_set(err, ENOTSUP, "%s has no room for a segment", path);
    return 0;
}

static void set_segment(const struct move_work *work, const struct move_output *out, Elf64_Phdr *ph)
{
    const struct move_buffer *last = &work->buffers[BUFFER_INDEX];
    *ph = (Elf64_Phdr){.p_type = PT_LOAD,
                       .p_flags = PF_R | PF_X,
                       .p_offset = out->offset,
                       .p_vaddr = out->address,
                       .p_paddr = out->address,
                       .p_filesz = last->address + last->size - out->address,
                       .p_align = PAGE};
    ph->p_memsz = ph->p_filesz;
}

/* Makes the new program headers: without the reused one, and with the segment's behind the last PT_LOAD. */
static size_t make_headers(const struct move_work *work, const struct move_output *out, Elf64_Phdr *headers)
{
    const struct move_survey *survey = work->survey;
    const struct move_buffer *index = &work->buffers[BUFFER_INDEX];
    size_t count = 0, last = 0;
    bool dropped = false;
    Elf64_Phdr ph;
    for (size_t i = 0; survey_segment(survey, i, &ph); i++)
        last = ph.p_type == PT_LOAD ? i : last;
    for (size_t i = 0; survey_segment(survey, i, &ph); i++) {
        if (!out->move_headers && !dropped && is_spare(survey, &ph)) {
            dropped = true;
            continue;
        }
        if (ph.p_type == PT_GNU_EH_FRAME) {
            ph.p_vaddr = ph.p_paddr = index->address;
            ph.p_offset = index->address - out->address + out->offset;
            ph.p_filesz = ph.p_memsz = index->size;
        } else if (ph.p_type == PT_PHDR && out->move_headers) {
            ph.p_vaddr = ph.p_paddr = out->address;
            ph.p_offset = out->offset;
            ph.p_filesz = ph.p_memsz = out->header_bytes;
        }
        headers[count++] = ph;
        if (i == last)
            set_segment(work, out, &headers[count++]);
    }
    return count;
}

static int put_headers(const struct move_work *work, const struct move_output *out, struct move_buffer *file)
{
    Elf64_Ehdr h;
    memcpy(&h, file->bytes, sizeof h);
    Elf64_Phdr *headers = calloc(h.e_phnum + (size_t)2, sizeof *headers);
    if (!headers)
        return -ENOMEM;
    h.e_phnum = (Elf64_Half)make_headers(work, out, headers);
    if (out->move_headers)
        h.e_phoff = out->offset;
    memcpy(file->bytes + h.e_phoff, headers, h.e_phnum * sizeof *headers);
    memcpy(file->bytes, &h, sizeof h);
    free(headers);
    return 0;
}

static int put_sections(const struct move_work *work, const struct move_output *out, struct move_buffer *file)
{
    struct move_sections sections = {0};
    Elf64_Ehdr h;
    Elf64_Shdr section;
    memcpy(&h, file->bytes, sizeof h);
    int rc = 0;
    for (size_t i = 0; rc == 0 && survey_section(work->survey, i, &section); i++)
        if (!vec_push(sections.items, sections.count, sections.capacity, section))
            rc = -ENOMEM;
    sections.names = h.e_shstrndx;
    if (rc == 0 && sections.count && sections.count < SHN_LORESERVE - SURVEY_NEW_SECTIONS &&
        sections.names < sections.count) {
        rc = move_symbols(work, out, file, &sections);
        if (rc == 0 && (!move_align(file, 0, 8) ||
                        (h.e_shoff = file->size,
                         move_append(file, sections.items, sections.count * sizeof section) == SIZE_MAX)))
            rc = -ENOMEM;
        h.e_shnum = (Elf64_Half)sections.count;
        memcpy(file->bytes, &h, sizeof h);
    }
    free(sections.items);
    return rc;
}

int move_output_write(const struct move_work *work, struct move_output *out, struct fathom_error *err)
{
    struct move_buffer file = {.bytes = out->bytes, .size = out->size, .capacity = out->size};
    bool done = move_append(&file, NULL, out->offset - out->size) != SIZE_MAX &&
                move_append(&file, NULL, out->header_bytes) != SIZE_MAX;
    for (unsigned b = 0; b < BUFFERS && done; b++) {
        const struct move_buffer *buffer = &work->buffers[b];
        uint64_t at = buffer->address - out->address + out->offset;
        done = move_append(&file, NULL, at - file.size) != SIZE_MAX &&
               move_append(&file, buffer->bytes, buffer->size) != SIZE_MAX;
    }
    int rc = done ? put_headers(work, out, &file) : -ENOMEM;
    if (rc == 0)
        rc = put_sections(work, out, &file);
    out->bytes = file.bytes;
    out->size = file.size;
    if (rc == -ENOTSUP)
        return error_set(err, ENOTSUP, "%s: the names of its sections are not in the file",
                         image_path(work->survey->image));
    return rc < 0 ? error_memory(err) : 0;
}
