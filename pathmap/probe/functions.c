/*
 * functions.c - images and functions: their numbers in the store, and which function a call site is in.
 */
#include "base/search.h"
#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

/* Part of the data of each image that caller_at() needs; high 0: unloaded. */
static struct range {
    uint64_t low, high, bias;
    uint32_t first, count; /* functions */
    const struct plan_call *calls;
    uint32_t call_count;
    uint64_t calls_from;
} ranges[STORE_IMAGES_MAX];

static bool same_image(const struct store_image *image, const char *path, const uint8_t *build_id,
                       uint32_t build_id_size, uint64_t bias)
{
    return image->unloaded && image->bias == bias && image->build_id_size == build_id_size &&
           raw_equal(image->build_id, build_id, build_id_size) && raw_same(image->path, path);
}

static uint32_t find_or_add_image(const char *path, const uint8_t *build_id, uint32_t build_id_size,
                                  uint64_t bias, uint64_t low, uint64_t high)
{
    uint32_t count = core.header->image_count, i;
    for (i = 0; i < count; i++)
        if (same_image(core.images + i, path, build_id, build_id_size, bias))
            break;
    struct store_image *image = core.images + i;
    if (i == count) {
        if (count == STORE_IMAGES_MAX || !store_room(image, sizeof *image))
            return UINT32_MAX;
        image->bias = bias;
        image->build_id_size = build_id_size;
        raw_copy(image->build_id, build_id, build_id_size);
        raw_append(image->path, sizeof image->path, 0, path);
    }
    image->low = low;
    image->high = high;
    image->unloaded = 0;
    ranges[i] = (struct range){.low = low,
                               .high = high,
                               .bias = bias,
                               .first = image->first_function,
                               .count = image->function_count};
    if (i == count)
        __atomic_store_n(&core.header->image_count, count + 1, __ATOMIC_RELEASE);
    core.sites_epoch++;
    return i;
}

uint32_t core_image(const char *path, const uint8_t *build_id, uint32_t build_id_size, uint64_t bias,
                    uint64_t low, uint64_t high)
{
    uint32_t image = UINT32_MAX;
    if (!core.started)
        return image;
    if (build_id_size > sizeof core.images->build_id)
        build_id_size = sizeof core.images->build_id;
    const uint64_t mask = core_lock();
    if (core.started)
        image = find_or_add_image(path, build_id, build_id_size, bias, low, high);
    core_unlock(mask);
    return image;
}

static uint32_t reserve_functions(uint32_t count)
{
    uint32_t first = core.header->function_count;
    if (count > STORE_FUNCTIONS_MAX - first ||
        !store_room(core.functions + first, count * sizeof *core.functions))
        return UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        core.functions[first + i] = (struct store_function){.image = STORE_NO_IMAGE};
    core.header->function_count = first + count;
    return first;
}

uint32_t core_functions(uint32_t image, uint32_t count)
{
    uint32_t first = UINT32_MAX;
    if (!core.started || image >= core.header->image_count || !count)
        return first;
    const uint64_t mask = core_lock();
    struct store_image *i = core.images + image;
    if (i->function_count == count) {
        first = i->first_function;
    } else if (core.started) {
        first = reserve_functions(count);
        if (first != UINT32_MAX) {
            i->first_function = ranges[image].first = first;
            i->function_count = ranges[image].count = count;
        }
    }
    core_unlock(mask);
    return first;
}

void core_function(uint32_t id, uint32_t image, uint64_t vaddr, uint32_t size)
{
    if (core.started && id && id < core.header->function_count)
        core.functions[id] = (struct store_function){.vaddr = vaddr, .image = image, .size = size};
}

void core_calls(uint32_t image, const struct plan *plan)
{
    if (!core.started || image >= core.header->image_count)
        return;
    struct range *range = ranges + image;
    range->calls = plan->calls;
    range->calls_from = plan->header->calls_from;
    BARRIER();
    *(volatile uint32_t *)&range->call_count = plan->header->call_count;
    core.sites_epoch++;
}

void core_summary(uint32_t image, const struct store_summary *summary)
{
    if (!core.started || image >= core.header->image_count)
        return;
    raw_copy(&core.images[image].summary, summary, sizeof *summary);
    core.sites_epoch++; /* its functions are known now */
}

void core_unload(uint32_t image)
{
    if (!core.started || image >= core.header->image_count)
        return;
    core.images[image].unloaded = 1;
    cyg_forget(ranges[image].low, ranges[image].high);
    ranges[image].high = 0;
    core.sites_epoch++;
}

uint32_t core_single_function(uint32_t image, uint64_t vaddr)
{
    uint32_t id = reserve_functions(1);
    if (id == UINT32_MAX)
        return 0;
    core.functions[id].vaddr = vaddr;
    core.functions[id].image = image;
    return id;
}

bool core_has_hook(uint32_t id)
{
    uint32_t image = core.functions[id].image;
    return image != STORE_NO_IMAGE && id - ranges[image].first < ranges[image].count;
}

bool core_is_hooked(uint32_t image, uint64_t vaddr)
{
    uint32_t first = ranges[image].first, end = first + ranges[image].count;
    uint32_t found = lower_bound(i, first, end, core.functions[i].vaddr < vaddr);
    return found < end && core.functions[found].vaddr == vaddr;
}

uint32_t core_image_at(uint64_t address, uint64_t *bias)
{
    uint32_t images = core.header->image_count;
    for (uint32_t i = 0; i < images; i++) {
        if (address >= ranges[i].low && address < ranges[i].high) {
            *bias = ranges[i].bias;
            return i;
        }
    }
    return UINT32_MAX;
}

/* Finds the function by the functions' sizes; 0: none. */
static uint32_t function_at(uint32_t image, uint64_t vaddr)
{
    uint32_t first = ranges[image].first;
    uint32_t beyond = lower_bound(i, first, first + ranges[image].count, core.functions[i].vaddr <= vaddr);
    if (beyond == first)
        return 0;
    const struct store_function *f = core.functions + beyond - 1;
    return f->image == image && vaddr - f->vaddr < f->size ? beyond - 1 : 0;
}

static const struct plan_call *call_before(const struct range *range, uint64_t back)
{
    uint64_t distance = back - range->calls_from;
    uint32_t first = lower_bound(i, 0, range->call_count, range->calls[i].back < distance);
    return first < range->call_count && range->calls[first].back == distance ? range->calls + first : NULL;
}

static struct caller search_caller(uint64_t site)
{
    struct caller caller = {0, plan_rule(PLAN_CALL_UNKNOWN, 0), plan_rule(PLAN_BP_UNKNOWN, 0)};
    uint64_t bias = 0;
    uint32_t image = core_image_at(site - 1, &bias); /* the call may be the last instruction */
    if (image == UINT32_MAX)
        return caller;
    const struct range *range = ranges + image;
    const struct plan_call *call = call_before(range, site - bias);
    if (!call) {
        caller.function = function_at(image, site - 1 - bias);
        return caller;
    }
    if (call->hook != PLAN_NO_HOOK)
        caller.function = range->first + call->hook;
    caller.cfa = call->cfa;
    caller.bp = call->bp;
    return caller;
}

static uint64_t check_of(uint64_t site, uint64_t function_cfa, uint64_t bp)
{
    return (site ^ function_cfa) * 0x9e3779b97f4a7c15ull + bp;
}

/* Results are cached per thread. What a signal handler writes in between does not pass the check. */
struct caller caller_at(struct thread *thread, uint64_t site)
{
    if (!thread)
        return search_caller(site);
    uint32_t epoch = core.sites_epoch;
    if (thread->sites_epoch != epoch) {
        for (unsigned i = 0; i < THREAD_SITES; i++)
            *(volatile uint64_t *)&thread->sites[i].check = 0;
        thread->sites_epoch = epoch;
    }
    volatile struct thread_site *known = thread->sites + site % THREAD_SITES;
    uint64_t function_cfa = known->function_cfa, bp = known->bp;
    if (known->check == check_of(site, function_cfa, bp))
        return (struct caller){(uint32_t)(function_cfa >> 32), (int32_t)(uint32_t)function_cfa, (int32_t)bp};
    struct caller caller = search_caller(site);
    function_cfa = (uint64_t)caller.function << 32 | (uint32_t)caller.cfa;
    bp = (uint32_t)caller.bp;
    known->function_cfa = function_cfa;
    known->bp = bp;
    known->check = check_of(site, function_cfa, bp);
    return caller;
}

void core_main_root(uint32_t image, uint64_t start_vaddr)
{
    if (!core.started || core.main_function)
        return;
    const uint64_t mask = core_lock();
    struct thread *thread = core.threads; /* the first one */
    struct stack *own = thread->own;
    uint32_t id =
        core.started && own && own->top == own->frames ? core_single_function(image, start_vaddr) : 0;
    uint32_t root = id ? node_make(thread, thread->root, id, 8, 0) : 0;
    if (root) {
        core.main_function = id;
        probe_nodes[root].count = 1;
        own->frames[1] = (struct frame){8, root};
        own->top = own->frames + 1;
    }
    core_unlock(mask);
}
