/*
 * burst.c - begins and ends the bursts of a thread (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, figure 3), and gives threads
 * their blocks; see block.h.
 *
 * The code counts the checks of a burst in pieces, between which the log is emptied: shorter ones where much is logged. A
 * signal handler can come at any instruction and run into a check itself: what is being done is not begun again below it.
 */
#include <asm/prctl.h>

#include "base/raw.h"
#include "streams/runtime/block.h"
#include "streams/runtime/contexts.h"
#include "streams/runtime/process.h"

#define NEVER       INT32_MAX
#define PIECE_MOST  64         /* checks */
#define STACK_NEAR  (1u << 20) /* bytes; from one frame to another of the same stack */
#define NESTED_MOST 1000       /* checks in a handler */

struct trace_options trace_options;

/* Of threads that record nothing; its numbers are nobody's. With a log, as returns may lead into instrumented versions. */
static union {
    struct block block;
    uint8_t bytes[WIRE_BLOCK];
} idle;
static uint32_t process;

static struct block *current(void)
{
    struct block *block;
    __asm__ volatile("movq %%gs:%c1, %0" : "=r"(block) : "i"(offsetof(struct block, self)));
    return block;
}

static void use(struct block *block)
{
    raw_call(SYS_arch_prctl, ARCH_SET_GS, (long)block, 0, 0, 0, 0);
}

/* Whether the thread records, or may yet: it has no file before its first burst. */
static bool may_record(const struct block *block)
{
    return !block->opened || writer_works(&block->writer);
}

/* How many checks of a group there are between two bursts that begin in it. As each check is of one group, so many of all are
 * between two bursts. */
static int32_t period_of(const struct block *block)
{
    uint32_t checks = trace_options.checks0 ? trace_options.checks0 : 1;
    return !may_record(block) || checks > NEVER ? NEVER : (int32_t)checks;
}

/* Not in a burst, as at the beginning: the groups' first ones are spread over the period. */
static void rest(struct block *block)
{
    int32_t period = period_of(block);
    block->whole = 0;
    block->burst_left = 0;
    for (uint32_t i = 0; i < WIRE_GROUPS; i++)
        block->checks_left[i] =
            period == NEVER ? NEVER : 1 + (int32_t)((uint64_t)period * (i * 101 % WIRE_GROUPS) / WIRE_GROUPS);
}

/* The group at 0 is counted from the beginning when the burst is over; in it, all are at 1. */
static void set_aside(struct block *block)
{
    int32_t period = period_of(block);
    for (uint32_t i = 0; i < WIRE_GROUPS; i++) {
        block->later[i] = block->checks_left[i] > 0 ? block->checks_left[i] : period;
        block->checks_left[i] = 1;
    }
}

static void take_up(struct block *block)
{
    block->whole = 0;
    block->burst_left = 0;
    for (uint32_t i = 0; i < WIRE_GROUPS; i++)
        block->checks_left[i] = block->later[i];
}

/* No counter stays at 0. */
static void pass_over(struct block *block)
{
    int32_t to = block->whole > 0 ? 1 : period_of(block);
    for (uint32_t i = 0; i < WIRE_GROUPS; i++)
        if (block->checks_left[i] <= 0)
            block->checks_left[i] = to;
    block->burst_left = block->whole > 0 ? 1 : 0;
}

static struct block *use_idle(void)
{
    struct block *block = &idle.block;
    if (!block->self) {
        block->change = burst_enter;
        block->self = block;
        block->opened = true; /* and has no file */
        rest(block);
    }
    use(block);
    return block;
}

struct block *block_enter(void)
{
    struct block *block = raw_memory(WIRE_BLOCK);
    if (!process)
        process = raw_pid();
    if (!block)
        return use_idle();
    block->change = burst_enter;
    block->self = block;
    block->tid = raw_tid();
    block->piece = PIECE_MOST;
    rest(block);
    use(block);
    return block;
}

void block_leave(void)
{
    struct block *block = current();
    if (block == &idle.block || block->tid != raw_tid())
        return;
    use_idle();
    if (block->whole > 0)
        writer_take(&block->writer, (uint8_t *)block + WIRE_LOG, block->logged);
    if (block->opened)
        writer_close(&block->writer, true);
    raw_munmap(block, WIRE_BLOCK);
}

void block_forked(void)
{
    struct block *block = current();
    process = raw_pid();
    block_enter();
    if (block == &idle.block)
        return;
    if (block->opened)
        writer_close(&block->writer, false); /* the parent goes on with it */
    raw_munmap(block, WIRE_BLOCK);
}

static void next_piece(struct block *block)
{
    uint32_t half = WIRE_LOG_BYTES / 2, logged = block->logged + block->taken;
    if (logged > half && block->piece > 1)
        block->piece /= 2;
    else if (logged < half / 4 && block->piece < PIECE_MOST)
        block->piece *= 2;
    block->logged = block->taken = 0;
    if (process_logs_heap)
        writer_heap(&block->writer, process_position());
    block->burst_left = block->whole < block->piece ? block->whole : block->piece;
}

/* The call path of who calls burst_change() with this SP, which is below what it pushed and its return address. */
static uint32_t context_at(uint64_t sp)
{
    return contexts_of(((const uint64_t *)sp)[1], sp + 16, true);
}

static void begin(struct block *block, uint64_t sp)
{
    if (!block->opened && writer_open(&block->writer, process, block->tid, process_number()))
        process_maps();
    block->opened = true;
    if (!writer_works(&block->writer)) {
        rest(block);
        return;
    }
    uint32_t checks = trace_options.checks0 && trace_options.burst0 <= NEVER ? trace_options.burst0 : NEVER;
    block->context = context_at(sp);
    writer_burst(&block->writer, trace_options.checks0, block->context);
    if (block->whole <= 0)
        set_aside(block);
    block->whole = (int32_t)checks;
    block->logged = block->taken = 0;
    next_piece(block);
}

/* A long burst comes into other paths than that in which it began. */
static void note_context(struct block *block, uint64_t sp)
{
    uint32_t context = context_at(sp);
    if (context != block->context)
        writer_context(&block->writer, context);
    block->context = context;
}

/* The log is emptied; then the burst goes on, or ends. */
static void end_piece(struct block *block, uint64_t sp)
{
    int32_t passed = block->whole < block->piece ? block->whole : block->piece;
    writer_take(&block->writer, (uint8_t *)block + WIRE_LOG, block->logged);
    block->whole -= passed;
    if (block->whole <= 0 && !trace_options.checks0)
        block->whole = NEVER; /* all is one burst */
    if (block->whole > 0 && writer_works(&block->writer)) {
        note_context(block, sp);
        next_piece(block);
        return;
    }
    writer_end(&block->writer);
    if (writer_works(&block->writer))
        take_up(block);
    else
        rest(block);
}

void block_heap_changed(void)
{
    struct block *block = current();
    if (block->whole <= 0 || block->busy || block->tid != raw_tid())
        return;
    block->busy = (uint64_t)__builtin_frame_address(0);
    writer_take(&block->writer, (uint8_t *)block + WIRE_LOG, block->logged);
    block->taken += block->logged;
    block->logged = 0;
    writer_heap(&block->writer, process_position());
    __atomic_store_n(&block->busy, 0, __ATOMIC_RELEASE);
}

/* Whether a signal handler came while the thread was in burst_change(): on its stack or on another one. Only if the stack is shorter
 * than then, again and again, was that left by longjmp(). */
static bool is_nested(struct block *block, uint64_t sp)
{
    bool above = sp - block->busy < STACK_NEAR;
    bool nested = block->busy && !(above && block->nested++ >= NESTED_MOST);
    if (!nested)
        block->nested = 0;
    return nested;
}

/* The block that is to be used: threads that were made without the library have their parent's, and so has the child of vfork(),
 * whose memory is its parent's, too, and which records nothing (NULL). */
static struct block *own_block(struct block *block)
{
    if (block == &idle.block || block->tid == raw_tid())
        return block;
    return raw_pid() == process ? block_enter() : NULL;
}

bool burst_change(struct block *block, uint64_t sp)
{
    struct block *own = own_block(block);
    if (own != block) {
        pass_over(block);
        return true;
    }
    if (own == &idle.block || !may_record(own)) {
        rest(own);
        return true;
    }
    if (is_nested(own, sp)) {
        pass_over(own);
        return true;
    }
    own->busy = sp;
    if (own->burst_left < 0)
        begin(own, sp);
    else
        end_piece(own, sp);
    __atomic_store_n(&own->busy, 0, __ATOMIC_RELEASE);
    return own->whole <= 0;
}
