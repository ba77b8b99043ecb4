/* start.c - code that is executed before all other code of the new file (gABI, "Initialization and Termination Functions"). See
 * work.h. */
#include <errno.h>
#include <string.h>

#include "rewrite/move/work.h"

/* Where the file says what is executed first: the entry point of a program, DT_INIT of a library. 0: nowhere. */
static size_t find_start(const struct move_survey *survey)
{
    Elf64_Phdr ph, dynamic = {0};
    bool program = survey->file->type == ET_EXEC;
    for (size_t i = 0; survey_segment(survey, i, &ph); i++) {
        program |= ph.p_type == PT_INTERP;
        if (ph.p_type == PT_DYNAMIC)
            dynamic = ph;
    }
    if (program)
        return offsetof(Elf64_Ehdr, e_entry);
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        if (dynamic.p_offset + at + sizeof d > survey->size)
            break;
        memcpy(&d, survey->data + dynamic.p_offset + at, sizeof d);
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_INIT)
            return dynamic.p_offset + at + offsetof(Elf64_Dyn, d_un);
    }
    return 0;
}

int move_start_put(struct move_work *work)
{
    static const uint8_t jump[ENTRY_JUMP] = {0xe9};
    struct move_buffer *buffer = &work->buffers[BUFFER_HOT];
    size_t size = work->plan->start_size, place = size ? find_start(work->survey) : 0;
    uint64_t first;
    if (!size)
        return 0;
    if (!place)
        return -ENOTSUP;
    memcpy(&first, work->survey->data + place, sizeof first);
    struct move_fix fix = {.at = {BUFFER_HOT, (uint32_t)(buffer->size + size + 1)},
                           .from = 4,
                           .kind = FIX_FUNCTION,
                           .target = first};
    bool done = move_append(buffer, work->plan->start, size) != SIZE_MAX &&
                move_append(buffer, jump, sizeof jump) != SIZE_MAX && move_fix(work, &fix);
    return done ? 0 : -ENOMEM;
}

void move_start_set(const struct move_work *work, uint8_t *elf)
{
    size_t place = work->plan->start_size ? find_start(work->survey) : 0;
    if (place)
        memcpy(elf + place, &work->buffers[BUFFER_HOT].address, sizeof work->buffers[BUFFER_HOT].address);
}
