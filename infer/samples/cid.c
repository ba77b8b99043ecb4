/* cid.c - computes a sample's CID from its registers by the CFI row of its PC; see cid.h.
 */
#include "infer/samples/cid.h"

#include "image/mapped_name.h"
#include "perfdata/walks.h"
#include "process/frame.h"

/* A CFA in memory is only known for stacks that were copied, or walked while recording. */
static bool leaf_cfa(const struct frame *frame, const struct cfi_row *row, uint64_t *cfa)
{
    const struct walked *walk = frame->dump->walk;
    if (frame_cfa(frame, row, cfa) == FRAME_FOUND)
        return true;
    if (cfi_in_memory(row) && walk && walk->count)
        *cfa = walk->frames[walk->count - 1].cfa;
    return cfi_in_memory(row) && walk && walk->count;
}

static enum unknown_reason why_unmapped(const struct process *process, uint64_t pc)
{
    const struct mapping *mapping = process ? process_mapping(process, pc) : NULL;
    return mapping && mapping->path && mapped_is_run_time(mapping->path) ? UNKNOWN_RUN_TIME : UNKNOWN_MAPPING;
}

struct leaf_frame leaf_frame_of(const struct process *process, const struct sample *sample)
{
    struct leaf_frame leaf = {.place = {.function = IMAGE_NO_FUNCTION}};
    if (!sample->has_regs) {
        leaf.reason = sample->mode == SAMPLE_MODE_KERNEL ? UNKNOWN_KERNEL
                      : sample->sp                       ? UNKNOWN_32BIT
                                                         : UNKNOWN_REGISTERS;
        return leaf;
    }
    if (sample->reg_ip >= KERNEL_ADDRESSES) {
        leaf.reason = UNKNOWN_KERNEL;
        return leaf;
    }
    struct cfi_row row;
    bool known =
        process && (sample->regs_after ? process_cfi_after(process, sample->reg_ip, &leaf.place, &row)
                                       : process_cfi(process, sample->reg_ip, &leaf.place, &row));
    if (!known) {
        leaf.reason = why_unmapped(process, sample->reg_ip);
        return leaf;
    }
    if (leaf.place.function == IMAGE_NO_FUNCTION) {
        leaf.reason = UNKNOWN_FUNCTION;
        return leaf;
    }
    struct frame frame = {sample, sample->sp, sample->bp, true};
    uint64_t found;
    /* A return address lies between SP and the CFA; if not, BP was not what the row assumes. After a return, SP is the CFA. */
    if (!leaf_cfa(&frame, &row, &found) || found < sample->sp + !sample->regs_after)
        leaf.reason = UNKNOWN_CFI;
    else
        leaf.cfa = found;
    return leaf;
}

struct cid cid_of_frame(const struct process *process, const struct sample *sample,
                        const struct leaf_frame *frame)
{
    struct cid cid = {.place = frame->place, .reason = frame->reason};
    uint64_t base;
    if (cid.reason != UNKNOWN_NOT)
        return cid;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN)
        cid.reason = UNKNOWN_BASE;
    else /* entry code has its CFA above the base (process/unwind.c, is_at_base) */
        cid.height = frame->cfa > base ? 0 : base - frame->cfa;
    return cid;
}

struct cid cid_of_sample(const struct process *process, const struct sample *sample)
{
    const struct leaf_frame frame = leaf_frame_of(process, sample);
    return cid_of_frame(process, sample, &frame);
}

const char *unknown_reason_text(enum unknown_reason reason)
{
    switch (reason) {
    case UNKNOWN_NOT:
        return "it is known";
    case UNKNOWN_CONTEXT:
        return "no known path reaches its function at its stack depth";
    case UNKNOWN_FUNCTION:
        return "its address is in no known function";
    case UNKNOWN_MAPPING:
        return "its address is in no file that could be opened";
    case UNKNOWN_RUN_TIME:
        return "it is in code that the process made itself";
    case UNKNOWN_CFI:
        return "its code has no unwind table that works with SP and BP";
    case UNKNOWN_BASE:
        return "the base of its stack is unknown";
    case UNKNOWN_KERNEL:
        return "it is in the kernel";
    case UNKNOWN_REGISTERS:
        return "it was recorded without registers";
    case UNKNOWN_32BIT:
        return "it is in a 32-bit process, whose stacks are not followed";
    case UNKNOWN_UNREAD:
        return "it may have come through unreadable code";
    case UNKNOWN_CUT:
        return "looking for its paths would take too much work";
    case UNKNOWN_UNSURE:
        return "below the requested confidence";
    default:
        return "for an unknown reason";
    }
}
