/*
 * burst.c - begins and ends the bursts of a thread (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, figure 3),
 * and gives threads their blocks; see block.h.
 *
 * The code counts the checks of a burst in pieces, after each of which the log is emptied: shorter ones if much
 * is logged. A signal handler can interrupt any instruction and reach a check itself: it does not restart what it
 * interrupted.
 */
#include <asm/prctl.h>

#include "base/raw.h"
#include "streams/runtime/block.h"
#include "streams/runtime/contexts.h"
#include "streams/runtime/process.h"

#define NEVER       INT32_MAX
#define PIECE_MOST  64         /* checks */
#define STACK_NEAR  (1u << 20) /* between two frames of the same stack, bytes */
#define NESTED_MOST 1000       /* checks in a handler */

struct trace_options trace_options;

/* Shared by threads that record nothing; its counters are meaningless. It has a log, as returns may lead into
 * instrumented versions. */
static union {
    struct block block;
    uint8_t bytes[WIRE_BLOCK];
} idle;
static uint32_t process;

static struct block *current_block(void)
{
    struct block *block;
    __asm__ volatile("movq %%gs:%c1, %0" : "=r"(block) : "i"(offsetof(struct block, self)));
    return block;
}

static void use_block(struct block *block)
{
    raw_call(SYS_arch_prctl, ARCH_SET_GS, (long)block, 0, 0, 0, 0);
}

/* Whether the thread records, or may do so later: it has no file before its first burst. */
static bool may_record(const struct block *block)
{
    return !block->opened || writer_works(&block->writer);
}

/* The number of checks of a group between two bursts that it starts. As each check is of one group, this is also
 * the number of all checks between two bursts. */
static int32_t period_of(const struct block *block)
{
    uint32_t checks = trace_options.checks0 ? trace_options.checks0 : 1;
    return !may_record(block) || checks > NEVER ? NEVER : (int32_t)checks;
}

/* Sets the counters for a time without a burst. At the beginning, the groups' first ones are spread over the
 * period. */
static void begin_pause(struct block *block)
{
    int32_t period = period_of(block);
    block->whole = 0;
    block->burst_left = 0;
    for (uint32_t i = 0; i < WIRE_GROUPS; i++)
        block->checks_left[i] =
            period == NEVER ? NEVER : 1 + (int32_t)((uint64_t)period * (i * 101 % WIRE_GROUPS) / WIRE_GROUPS);
}

/* Saves the counters during a burst, in which all are 1. The group that reached 0 starts again when the burst is
 * over. */
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

/* Ensures that no counter stays at 0. */
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
        block->opened = true; /* but has no file */
        begin_pause(block);
    }
    use_block(block);
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
    begin_pause(block);
    use_block(block);
    return block;
}

void block_leave(void)
{
    struct block *block = current_block();
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
    struct block *block = current_block();
    process = raw_pid();
    block_enter();
    if (block == &idle.block)
        return;
    if (block->opened)
        writer_close(&block->writer, false); /* the parent continues to use it */
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

/* The call path of the code that called burst_change() with this SP, which is below the registers that it pushed
 * and its return address. */
static uint32_t context_at(uint64_t sp)
{
    return contexts_of(((const uint64_t *)sp)[1], sp + 16, true);
}

static void begin_burst(struct block *block, uint64_t sp)
{
    if (!block->opened && writer_open(&block->writer, process, block->tid, process_number()))
        process_maps();
    block->opened = true;
    if (!writer_works(&block->writer)) {
        begin_pause(block);
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

/* Updates the call path, as a long burst comes into other paths than that in which it began. */
static void note_context(struct block *block, uint64_t sp)
{
    uint32_t context = context_at(sp);
    if (context != block->context)
        writer_context(&block->writer, context);
    block->context = context;
}

/* Empties the log; then the burst continues or ends. */
static void end_piece(struct block *block, uint64_t sp)
{
    int32_t passed = block->whole < block->piece ? block->whole : block->piece;
    writer_take(&block->writer, (uint8_t *)block + WIRE_LOG, block->logged);
    block->whole -= passed;
    if (block->whole <= 0 && !trace_options.checks0)
        block->whole = NEVER; /* everything is one burst */
    if (block->whole > 0 && writer_works(&block->writer)) {
        note_context(block, sp);
        next_piece(block);
        return;
    }
    writer_end(&block->writer);
    if (writer_works(&block->writer))
        take_up(block);
    else
        begin_pause(block);
}

void block_heap_changed(void)
{
    struct block *block = current_block();
    if (block->whole <= 0 || block->busy || block->tid != raw_tid())
        return;
    block->busy = (uint64_t)__builtin_frame_address(0);
    writer_take(&block->writer, (uint8_t *)block + WIRE_LOG, block->logged);
    block->taken += block->logged;
    block->logged = 0;
    writer_heap(&block->writer, process_position());
    __atomic_store_n(&block->busy, 0, __ATOMIC_RELEASE);
}

/* Whether a signal handler interrupted burst_change() in this thread: on its stack or on another one. That it was
 * left by longjmp() is only concluded if the stack is shorter than at that time, repeatedly. */
static bool is_nested(struct block *block, uint64_t sp)
{
    bool above = sp - block->busy < STACK_NEAR;
    bool nested = block->busy && !(above && block->nested++ >= NESTED_MOST);
    if (!nested)
        block->nested = 0;
    return nested;
}

/* The block to use. Threads made without the library have their parent's; so has the child of vfork(), which also
 * shares its parent's memory and records nothing (NULL). */
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
        begin_pause(own);
        return true;
    }
    if (is_nested(own, sp)) {
        pass_over(own);
        return true;
    }
    own->busy = sp;
    if (own->burst_left < 0)
        begin_burst(own, sp);
    else
        end_piece(own, sp);
    __atomic_store_n(&own->busy, 0, __ATOMIC_RELEASE);
    return own->whole <= 0;
}
