/*
 * functions.c - images and functions: their numbers in the store, and which function a call site is in.
 */
#include "pathmap/probe/core.h"
#include "pathmap/probe/raw.h"
#include "pathmap/probe/state.h"

/* What function_calling() needs of each image; high 0: unloaded. */
static struct range {
    uint64_t low, high, bias;
    uint32_t first, count; /* functions */
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
    ranges[i] = (struct range){low, high, bias, image->first_function, image->function_count};
    if (i == count)
        __atomic_store_n(&core.header->image_count, count + 1, __ATOMIC_RELEASE);
    core.sites_epoch++;
    return i;
}

uint32_t core_image(const char *path, const uint8_t *build_id, uint32_t build_id_size, uint64_t bias,
                    uint64_t low, uint64_t high)
{
    uint64_t mask;
    uint32_t image = UINT32_MAX;
    if (!core.started)
        return image;
    if (build_id_size > sizeof core.images->build_id)
        build_id_size = sizeof core.images->build_id;
    core_lock(&mask);
    if (core.started)
        image = find_or_add_image(path, build_id, build_id_size, bias, low, high);
    core_unlock(&mask);
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
    uint64_t mask;
    uint32_t first = UINT32_MAX;
    if (!core.started || image >= core.header->image_count || !count)
        return first;
    core_lock(&mask);
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
    core_unlock(&mask);
    return first;
}

void core_function(uint32_t id, uint32_t image, uint64_t vaddr)
{
    if (!core.started || !id || id >= core.header->function_count)
        return;
    core.functions[id].vaddr = vaddr;
    core.functions[id].image = image;
}

void core_function_size(uint32_t id, uint32_t size)
{
    if (core.started && id && id < core.header->function_count)
        core.functions[id].size = size;
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

bool core_is_hooked(uint32_t image, uint64_t vaddr)
{
    uint32_t low = ranges[image].first, high = low + ranges[image].count, end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (core.functions[middle].vaddr < vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && core.functions[low].vaddr == vaddr;
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

static uint32_t search(uint64_t address)
{
    uint64_t vaddr = 0;
    uint32_t i = core_image_at(address, &vaddr);
    if (i == UINT32_MAX)
        return 0;
    vaddr = address - vaddr;
    uint32_t low = ranges[i].first, high = low + ranges[i].count;
    while (low < high) { /* the first function beyond vaddr */
        uint32_t middle = low + (high - low) / 2;
        if (core.functions[middle].vaddr <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ranges[i].first)
        return 0;
    const struct store_function *f = core.functions + low - 1;
    return f->image == i && vaddr - f->vaddr < f->size ? low - 1 : 0;
}

/* A thread remembers where a site belongs by the site's low 8 bits: the other 39 and the function in 24. */
uint32_t function_calling(struct thread *thread, uint64_t site)
{
    uint32_t epoch = core.sites_epoch;
    if (thread->sites_epoch != epoch) {
        for (unsigned i = 0; i < THREAD_SITES; i++)
            *(volatile uint64_t *)&thread->sites[i] = 0;
        thread->sites_epoch = epoch;
    }
    uint64_t *slot = thread->sites + site % THREAD_SITES, known = *(volatile uint64_t *)slot;
    if (known >> 24 == site / THREAD_SITES && known)
        return known & 0xffffff;
    uint32_t function = search(site - 1); /* the call, should it be the last instruction */
    *(volatile uint64_t *)slot = site / THREAD_SITES << 24 | function;
    return function;
}

void core_main_root(uint32_t image, uint64_t start_vaddr)
{
    uint64_t mask;
    if (!core.started || core.main_function)
        return;
    core_lock(&mask);
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
    core_unlock(&mask);
}
