/* heap.c - records what the program allocates and frees. */
#include <malloc.h>

#include "base/raw.h"
#include "streams/runtime/block.h"
#include "streams/runtime/contexts.h"
#include "streams/runtime/frames.h"
#include "streams/runtime/process.h"

/* Ignores libgcc's own objects: it may hold the lock that a walk of the stack by another thread waits for
 * (frames.h). */
static void note_allocated(const void *memory, size_t size, uint64_t pc, uint64_t sp)
{
    if (!memory || !process_logs_heap || frames_refuse(pc))
        return;
    uint32_t context = contexts_of(pc, sp, false);
    if (!process_lock())
        return;
    process_allocated((uint64_t)memory, size, context);
    process_unlock();
    block_heap_changed();
}

static void note_freed(const void *memory, uint64_t pc)
{
    if (!memory || !process_logs_heap || frames_refuse(pc) || !process_lock())
        return;
    process_freed((uint64_t)memory);
    process_unlock();
    block_heap_changed();
}

static void note_kept(void *memory, uint64_t pc, uint64_t sp)
{
    note_allocated(memory, malloc_usable_size(memory), pc, sp);
}

#include "base/allocator.h"
