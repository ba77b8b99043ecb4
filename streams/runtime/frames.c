/* frames.c - see frames.h. */
#include "streams/runtime/frames.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <unwind.h>

#include "base/raw.h"

#define XSAVE_BYTES 4096 /* of the parts below, in the standard format: 2688 */
#define XSAVE_PARTS 0xe7 /* x87, SSE, AVX and AVX-512 */

static struct range {
    uint64_t from, to;
} own, unwinder;
static bool has_xsave;

static struct range range_of(void *in)
{
    struct dl_find_object found;
    if (_dl_find_object(in, &found) != 0)
        return (struct range){0, 0};
    return (struct range){(uint64_t)found.dlfo_map_start, (uint64_t)found.dlfo_map_end};
}

static bool is_in(const struct range *range, uint64_t address)
{
    return address - range->from < range->to - range->from;
}

void frames_begin(void)
{
    unsigned a, b, c = 0, d;
    has_xsave = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
    own = range_of((void *)frames_begin);
    unwinder = range_of((void *)_Unwind_Backtrace);
}

bool frames_refuse(uint64_t pc)
{
    return is_in(&unwinder, pc);
}

struct walk {
    struct frames *out;
    uint64_t pc, sp, base;
    uint64_t last; /* the stack pointer of the last frame */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *frame, void *argument)
{
    struct walk *walk = argument;
    struct frames *out = walk->out;
    uint64_t pc = _Unwind_GetIP(frame), sp = _Unwind_GetCFA(frame), slot = sp - 8;
    if (sp < walk->sp)
        return _URC_NO_REASON;
    if (sp <= walk->last || slot >= walk->base || !pc || (!walk->last && (pc != walk->pc || sp != walk->sp)))
        return _URC_NORMAL_STOP;
    walk->last = sp;
    if (is_in(&own, pc))
        return _URC_NO_REASON;
    if (out->depth == PROCESS_FRAMES_MOST) {
        out->cut = true;
        return _URC_NORMAL_STOP;
    }
    out->steady &= slot % 8 == 0 &&
                   *(const uint64_t *)slot == pc; /* code interrupted by a signal has no return address */
    out->pcs[out->depth] = pc;
    out->slots[out->depth++] = slot;
    return _URC_NO_REASON;
}

static void keep_vectors(uint8_t *to)
{
    if (!has_xsave) {
        __asm__ volatile("fxsave64 (%0)" : : "r"(to) : "memory");
        return;
    }
    raw_fill(to + 512, 0, 64); /* the header */
    __asm__ volatile("xsave64 (%0)" : : "r"(to), "a"(XSAVE_PARTS), "d"(0) : "memory");
}

static void restore_vectors(const uint8_t *from)
{
    if (has_xsave)
        __asm__ volatile("xrstor64 (%0)" : : "r"(from), "a"(XSAVE_PARTS), "d"(0) : "memory");
    else
        __asm__ volatile("fxrstor64 (%0)" : : "r"(from) : "memory");
}

void frames_walk(struct frames *out, uint64_t pc, uint64_t sp, uint64_t base, bool vectors)
{
    static uint8_t saved[XSAVE_BYTES] __attribute__((aligned(64)));
    struct walk walk = {.out = out, .pc = pc, .sp = sp, .base = base};
    out->depth = 0;
    out->cut = false;
    out->steady = true;
    if (vectors)
        keep_vectors(saved);
    _Unwind_Backtrace(take_frame, &walk);
    if (vectors)
        restore_vectors(saved);
}
