/* walked.c - see walked.h. */
#include "process/walked.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/stack_record.h"
#include "process/frame.h"

_Static_assert(UNWIND_MAX_FRAMES <= STACK_FRAMES_MAX, "a record takes every walk");

#define IN_RECORDS(END)                                                                                      \
    _Static_assert((int)UNWIND_##END == (int)STACK_END_##END, "recordings have the number")
IN_RECORDS(ROOT);
IN_RECORDS(CUT);
IN_RECORDS(NO_MAPPING);
IN_RECORDS(NO_CFI);
IN_RECORDS(UNSUPPORTED);
IN_RECORDS(BAD);
IN_RECORDS(LONG);
IN_RECORDS(SWITCHED);
IN_RECORDS(SIGNAL);
_Static_assert(UNWIND_ENDS == STACK_END_SIGNAL + 1, "recordings have a number for each");

void walked_make(const struct sample *sample, const struct unwind_frame *unwound, size_t count,
                 enum unwind_end end, struct walked_frame *frames, struct walked *out)
{
    *out = (struct walked){
        .frames = frames, .count = count, .switch_at = sample->stack_switch, .end = (uint8_t)end};
    out->has_back = count && walked_beyond(sample, unwound, count, &out->back);
    for (size_t i = 0; i < count; i++) {
        const struct unwind_frame *frame = &unwound[count - 1 - i];
        frames[i] = (struct walked_frame){
            frame->pc, frame->cfa,
            (uint8_t)((frame->interrupted ? WALKED_INTERRUPTED : 0) | (frame->derived ? WALKED_DERIVED : 0))};
    }
}

struct walked *walked_copy(const struct walked *walked)
{
    struct walked *copy = malloc(sizeof *copy + walked->count * sizeof *walked->frames);
    if (!copy)
        return NULL;
    *copy = *walked;
    copy->frames = (struct walked_frame *)(copy + 1);
    if (walked->count)
        memcpy(copy + 1, walked->frames, walked->count * sizeof *walked->frames);
    return copy;
}

/* How the walk ended, as seen here. If it reached code that was unknown while recording, or had no CFI (its file's record came
 * late, or its CFI is in a file that only exists here), but has it here, then what is missing is a copy of the stack. In older
 * recordings a handler on an alternate stack was a root. outermost: the last frame's row. */
static enum unwind_end end_here(const struct process *process, const struct walked *walk,
                                const struct cfi_row *outermost)
{
    struct place place;
    struct cfi_row row;
    /* Only a frame can be a root, or a handler: if there is none, the record is damaged. */
    const bool possible =
        walk->end < UNWIND_ENDS && (walk->count || (walk->end != UNWIND_ROOT && walk->end != UNWIND_SIGNAL));
    const enum unwind_end end = possible ? (enum unwind_end)walk->end : UNWIND_BAD;
    if (end == UNWIND_ROOT && walk->has_back && unwind_is_handler(process, walk->back))
        return UNWIND_SIGNAL;
    if ((end != UNWIND_NO_MAPPING && end != UNWIND_NO_CFI) || !walk->has_back ||
        outermost->cfa == CFI_SIGNAL_FRAME || !unwind_place(process, walk->back, false, &place, &row))
        return end;
    return row.cfa == CFI_NONE || row.derived ? UNWIND_NO_CFI : UNWIND_CUT;
}

size_t walked_frames(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end)
{
    const struct walked *walk = sample->walk;
    struct cfi_row row = {0};
    uint64_t sp = sample->sp;
    for (size_t i = 0; i < walk->count; i++) {
        const struct walked_frame *from = &walk->frames[walk->count - 1 - i];
        struct unwind_frame *frame = &frames[i];
        *end = UNWIND_LONG;
        if (i == max)
            return i;
        *frame = (struct unwind_frame){.pc = from->pc,
                                       .cfa = from->cfa,
                                       .interrupted = from->marks & WALKED_INTERRUPTED,
                                       .derived = from->marks & WALKED_DERIVED};
        const bool exact = i == 0 || frame->interrupted;
        *end = UNWIND_NO_MAPPING;
        if (!unwind_place(process, from->pc, exact, &frame->place, &row))
            return i;
        *end = UNWIND_BAD;
        if (from->cfa < sp || from->cfa - sp < (row.cfa == CFI_SIGNAL_FRAME ? 1 : exact ? 0 : 8))
            return i;
        sp = from->cfa;
    }
    *end = end_here(process, walk, &row);
    return walk->count;
}

bool walked_beyond(const struct sample *sample, const struct unwind_frame *frames, size_t count,
                   uint64_t *word)
{
    const struct walked *walk = sample->walk;
    const struct frame dump = {.dump = sample};
    if (!walk)
        return frame_read(&dump, frames[count - 1].cfa - 8, word);
    *word = count < walk->count ? walk->frames[walk->count - 1 - count].pc : walk->back;
    return count < walk->count || walk->has_back;
}

bool walked_agrees(const struct process *process, const struct sample *sample, struct unwind_frame *frames)
{
    const struct walked *walk = sample->walk;
    struct sample bare = *sample;
    enum unwind_end end;
    uint64_t base;
    bare.walk = NULL;
    const size_t count = unwind_sample(process, &bare, frames, UNWIND_MAX_FRAMES, &end);
    if (process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN)
        base = UINT64_MAX;
    for (size_t i = 0; i < count || i < walk->count; i++) {
        const struct walked_frame *from = i < walk->count ? &walk->frames[walk->count - 1 - i] : NULL;
        const uint64_t cfa = i < count ? frames[i].cfa : from->cfa;
        if ((i >= count || !from || frames[i].pc != from->pc || cfa != from->cfa) && cfa <= base)
            return false;
    }
    return end == walk->end;
}
