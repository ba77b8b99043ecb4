/*
 * fork.c - gives a forked child its own store.
 *
 * Only the forking thread exists. Until this is done, no entry is recorded (state.h, `limit`), and the
 * parent's store, which is still mapped, is not written to. If a hook still holds node numbers (because a
 * signal handler that interrupted it called fork), these are in the new file's hole: only what is written
 * there is lost.
 */
#include <errno.h>
#include <sys/mman.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

static bool copy_tables(const struct store_header *old, const struct store_image *images,
                        const struct store_function *functions)
{
    struct store_header *header = core.header;
    uint64_t image_bytes = old->image_count * sizeof *images;
    uint64_t function_bytes = old->function_count * sizeof *functions;
    if (image_bytes && !store_room(core.images, image_bytes))
        return false;
    if (!store_room(core.functions, function_bytes))
        return false;
    raw_copy(core.images, images, image_bytes);
    raw_copy(core.functions, functions, function_bytes);
    header->parent_pid = old->pid;
    header->chunk_first = header->chunk_count = old->chunk_count;
    header->function_count = old->function_count;
    header->image_count = old->image_count;
    return true;
}

static void adopt_stacks(struct thread *thread, const struct store_node *old)
{
    for (uint32_t i = 1; i < core.stack_count; i++) {
        struct stack *stack = core.stacks + i;
        if (stack->kind == STACK_FREE)
            continue;
        stack->limit = core.limits + i;
        if (stack->kind == STACK_OWN && stack->thread != thread)
            continue;
        stack->thread = thread;
        nodes_adopt(stack, thread, old);
        stack_set_limit(stack);
    }
}

/* Forgets the parent's other threads. */
static void forget_threads(const struct thread *survivor)
{
    for (uint32_t i = 0; i < core.thread_count; i++) {
        struct thread *thread = core.threads + i;
        call_log_forget(thread);
        thread->root = 0;
        thread->nodes = 0;
        thread->ordering = NULL;
        thread->made = thread->last_node = 0;
        thread->removed = 0;
        counters_forget(thread);
        thread->limit = core.recording.node_limit;
        thread->last_ticks = raw_ticks();
        if (thread != survivor)
            thread->tid = 0;
    }
}

static bool is_sorted(void)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < core.stack_count; i++)
        count += core.stacks[i].kind == STACK_AUX;
    if (count != core.aux_count)
        return false;
    for (uint32_t i = 1; i < count; i++)
        if (core.by_low[i - 1]->low >= core.by_low[i]->low)
            return false;
    return true;
}

/* Repairs the order of stacks: another thread may have been changing it when the process was copied. */
static void sort_stacks(void)
{
    if (is_sorted())
        return;
    core.aux_count = 0;
    for (uint32_t i = 1; i < core.stack_count; i++) {
        struct stack *stack = core.stacks + i;
        if (stack->kind != STACK_AUX)
            continue;
        uint32_t at = core.aux_count++;
        for (; at && core.by_low[at - 1]->low > stack->low; at--)
            core.by_low[at] = core.by_low[at - 1];
        core.by_low[at] = stack;
    }
}

static void give_up(uint8_t *old)
{
    core.started = false;
    raw_mmap((uint64_t)old, core.store_size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1);
}

void fork_child(void)
{
    uint8_t *old = (uint8_t *)core.header;
    const struct store_node *old_nodes = probe_nodes;
    uint64_t old_size = core.store_size, size;
    core.pid = raw_pid();
    nodes_forget();
    saved_stacks_forget();
    long made = trainer_is_over() ? -EOWNERDEAD : store_make(core.pid, &size);
    if (raw_failed(made)) {
        give_up(old);
        if (core.tell && made != -EOWNERDEAD)
            core.tell((int)-made);
        return;
    }
    store_use((uint8_t *)made);
    core.store_size = size;
    core.limits[0] = 1;
    if (!copy_tables((struct store_header *)old, (struct store_image *)(old + STORE_IMAGES_AT),
                     (struct store_function *)(old + STORE_FUNCTIONS_AT))) {
        store_use(old);
        core.store_size = old_size;
        raw_munmap((void *)made, size);
        give_up(old);
        if (core.tell)
            core.tell(ENOSPC);
        return;
    }
    struct thread *thread = probe_thread;
    forget_threads(thread);
    sort_stacks();
    if (thread) {
        thread->tid = raw_tid();
        thread->root = node_make(thread, 0, STORE_ROOT, 0, 0);
        core.header->tree_count = core.header->thread_count = 1;
        adopt_stacks(thread, old_nodes);
    }
    if (size == old_size) {
        long moved =
            raw_call(SYS_mremap, made, (long)size, (long)size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)old, 0);
        if (!raw_failed(moved))
            store_use(old);
    }
}

void core_fork_child(void)
{
    if (fork_unseen())
        core_unlock(core_lock());
}
