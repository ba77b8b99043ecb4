/*
 * cyg.c - programs built with -finstrument-functions: turns the compiler's calls into entries.
 *
 * They come from inside the function, so its return address has to be found: by the plan, which has the start
 * of the frame at each call; without one by the frame pointer, if there is one, else by searching upwards.
 * Returns are reported too; they remove frames early, which saves the tests of enter.c, but nothing depends
 * on them (longjmp skips them).
 *
 * An inlined function also reports its entry, with the return address of the function that contains it. It
 * has no frame of its own and is ignored: as with all other hooks, paths consist of frames. Functions with
 * another hook are ignored too: that knows the return address better.
 *
 * These are ordinary calls: the caller expects its scratch registers to be clobbered.
 */
#include <link.h>

#include "pathmap/probe/core.h"
#include "pathmap/probe/maps.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define TABLE_SIZE (1u << 20)
#define REACH      (64u << 10) /* bytes of one function's frame */

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *site);
__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *site);

struct known {
    uint64_t address; /* 0: free */
    uint32_t id;      /* 0: to be determined again; HOOKED: it has another hook */
};
#define HOOKED UINT32_MAX

static struct known *table; /* TABLE_SIZE, allocated at the first call */

static struct known *slot_for(uint64_t address)
{
    uint64_t at = address * 0x9e3779b97f4a7c15ull >> 44;
    for (unsigned i = 0; i < 64; i++) {
        struct known *known = table + (at + i) % TABLE_SIZE;
        if (!known->address || known->address == address)
            return known;
    }
    return NULL;
}

void cyg_forget(uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; table && i < TABLE_SIZE; i++)
        if (table[i].address >= low && table[i].address < high)
            table[i].id = 0;
}

struct found {
    uint64_t address, bias, low, high;
    const uint8_t *build_id;
    uint32_t build_id_size;
};

static void find_build_id(struct found *found, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        uint64_t name = at + sizeof *note, data = name + ((note->n_namesz + 3ull) & ~3ull);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            raw_equal((const void *)name, "GNU", 4)) {
            found->build_id = (const uint8_t *)data;
            found->build_id_size = note->n_descsz;
            return;
        }
        at = data + ((note->n_descsz + 3ull) & ~3ull);
    }
}

static int find_image(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct found *found = context;
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = info->dlpi_phdr + i;
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && at < low)
            low = at;
        if (p->p_type == PT_LOAD && at + p->p_memsz > high)
            high = at + p->p_memsz;
    }
    if (found->address < low || found->address >= high)
        return 0;
    found->bias = info->dlpi_addr;
    found->low = low;
    found->high = high;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE && !found->build_id_size)
            find_build_id(found, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, info->dlpi_phdr[i].p_memsz);
    return 1;
}

/* The image's number; registers the image if that has not been done. */
static uint32_t image_of(uint64_t address, uint64_t *bias)
{
    uint32_t image = core_image_at(address, bias);
    if (image != UINT32_MAX)
        return image;
    struct found found = {.address = address};
    struct maps maps;
    struct maps_line line;
    if (!dl_iterate_phdr(find_image, &found) || !maps_open(&maps))
        return UINT32_MAX;
    while (maps_next(&maps, &line)) {
        if (address < line.start || address >= line.end)
            continue;
        image = core_image(line.path, found.build_id, found.build_id_size, found.bias, found.low, found.high);
        *bias = found.bias;
        break;
    }
    maps_close(&maps);
    return image;
}

static uint32_t learn_function(uint64_t address)
{
    uint64_t bias = 0;
    uint32_t image = image_of(address, &bias), id = 0;
    const uint64_t mask = core_lock();
    if (core.started && !table)
        __atomic_store_n(&table, raw_memory(TABLE_SIZE * sizeof *table), __ATOMIC_RELEASE);
    struct known *known = core.started && table ? slot_for(address) : NULL;
    if (known && !known->id)
        known->id = image != UINT32_MAX && core_is_hooked(image, address - bias)
                        ? HOOKED
                        : core_single_function(image, image == UINT32_MAX ? address : address - bias);
    if (known) {
        id = known->id;
        __atomic_store_n(&known->address, address, __ATOMIC_RELEASE);
    }
    core_unlock(mask);
    return id;
}

static uint32_t id_of(uint64_t address)
{
    const struct known *known = table ? slot_for(address) : NULL;
    if (known && known->address == address && known->id)
        return known->id;
    return learn_function(address);
}

/* Where the frame of the calling function starts, by the call's rule; NULL: unknown. */
static const uint64_t *known_slot(const uint64_t *mine, uint64_t site)
{
    int32_t rule = caller_at(probe_thread, mine[1]).cfa;
    unsigned kind = plan_rule_kind(rule);
    if (kind != PLAN_CALL_FIXED && kind != PLAN_CALL_BP)
        return NULL;
    uint64_t cfa = (uint64_t)(mine + 2);
    uint64_t found = (kind == PLAN_CALL_BP ? mine[0] : cfa) + (uint64_t)(int64_t)plan_rule_offset(rule);
    if (found <= cfa || found - cfa > REACH || found % 8)
        return NULL;
    const uint64_t *slot = (const uint64_t *)found - 1;
    return *slot == site ? slot : NULL;
}

/* Finds `site` on the stack, from `from` upwards; returns `from` itself if not found. */
static const uint64_t *seek_slot(const uint64_t *from, const uint64_t *frame, uint64_t site)
{
    if (frame >= from && (uint64_t)frame - (uint64_t)from < REACH && (uint64_t)frame % 8 == 0 &&
        frame[1] == site)
        return frame + 1;
    const struct thread *thread = probe_thread;
    const uint64_t *end = from + REACH / 8;
    if (thread && stack_holds(thread->current, (uint64_t)from) && (uint64_t)end > thread->current->base)
        end = (const uint64_t *)thread->current->base;
    for (const uint64_t *slot = from; slot < end; slot++)
        if (*slot == site)
            return slot;
    return from - 1;
}

/* Whether the frame with this return address belongs to another function. */
static bool is_within(uint32_t id, const uint64_t *slot)
{
    const struct thread *thread = probe_thread;
    if (!thread || fork_unseen() || !stack_holds(thread->current, (uint64_t)slot))
        return false;
    const struct stack *stack = thread->current;
    const struct frame *top = stack->top;
    while (top > stack->frames && slot_of(stack, top) < (uint64_t)slot)
        top--;
    if (top == stack->frames || !top->node || slot_of(stack, top) != (uint64_t)slot)
        return false;
    const struct store_node *node = probe_nodes + top->node;
    return node->function != id && node->site == (uint32_t)*slot;
}

void __cyg_profile_func_enter(void *function, void *site)
{
    const uint64_t *mine = __builtin_frame_address(0); /* [0]: the function's rbp, [1]: return address */
    if (!core.started)
        return;
    uint32_t id = id_of((uint64_t)function);
    if (!id || id == HOOKED)
        return;
    const uint64_t *slot = known_slot(mine, (uint64_t)site);
    if (!slot)
        slot = seek_slot(mine + 2, (const uint64_t *)mine[0], (uint64_t)site);
    if (!is_within(id, slot))
        core_enter(id, slot, 0);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    struct thread *thread = probe_thread;
    uint64_t cfa = (uint64_t)__builtin_frame_address(0) + 16;
    (void)site;
    if (!thread || !core.started || fork_unseen() || !stack_holds(thread->current, cfa))
        return;
    struct stack *stack = thread->current;
    uint32_t id = id_of((uint64_t)function);
    const struct frame *top = stack->top;
    /* Frames that longjmp left may still be above it: then nothing is removed, which is harmless. */
    if (top > stack->frames && top->node && probe_nodes[top->node].function == id &&
        slot_of(stack, top) >= cfa - 8)
        *(const struct frame *volatile *)&stack->top = top - 1;
}
