/* framing.c - see framing.h. */
#include "profile/framing.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "image/mapped_name.h"
#include "image/run_time.h"
#include "infer/samples/locate.h"
#include "pathmap/map/partial.h"
#include "profile/access.h"
#include "profile/inlined.h"
#include "profile/level_frames.h"
#include "profile/script_frames.h"

#define NO_ITEM UINT32_MAX

/* A node's path as frames, including those of its call sites. */
struct framed {
    uint32_t depth;   /* functions */
    uint32_t words[]; /* for each function, the number of frames up to and including it; then the frames */
};

struct framing {
    struct framing_options options;
    struct image_cache *images;
    const struct pathmap *map; /* NULL before framing_use() */
    struct frames *frames;
    uint32_t *items;         /* by map function: its frame; NO_ITEM until it is looked up */
    struct inlined *inlined; /* NULL: no inlined functions or lines */
    struct call_sites sites;
    /* node << 1 | whether its sites are known -> struct framed; NULL unless `inlined` is set */
    struct table *framed;
    struct arena *arena;    /* owns them */
    uint32_t *path;         /* frames of the present path, from the root inwards */
    size_t depth, capacity; /* of path */
    uint32_t *functions;    /* scratch: those of a node's path in the map */
    size_t function_capacity;
    struct script_frames *scripts; /* NULL: no sample had any so far */
    struct accesses *accesses;     /* NULL: not wanted */
    const struct process *process; /* of the present path */
    const struct sample *sample;
    bool cgroup_wanted, cgroup_known;
    struct table *kernel; /* kernel address -> its frame */
    enum kernel_named named;
};

struct framing *framing_new(const struct framing_options *options, struct image_cache *images)
{
    struct framing *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *options;
    f->images = images;
    f->frames = frames_new();
    f->framed = table_new();
    f->arena = arena_new(0);
    f->kernel = table_new();
    bool source = options->inlined || options->lines || options->places;
    if (source && f->frames)
        f->inlined = inlined_new(f->frames, images, options->inlined, options->lines, options->places);
    if (options->accesses || options->locks)
        f->accesses = accesses_new();
    return whole_or_free(f,
                         f->frames && f->framed && f->arena && f->kernel && (!source || f->inlined) &&
                             (f->accesses || (!options->accesses && !options->locks)),
                         framing_free);
}

void framing_free(struct framing *f)
{
    if (!f)
        return;
    inlined_free(f->inlined);
    call_sites_clear(&f->sites);
    table_free(f->framed);
    arena_free(f->arena);
    script_frames_free(f->scripts);
    accesses_free(f->accesses);
    table_free(f->kernel);
    frames_free(f->frames);
    free(f->items);
    free(f->path);
    free(f->functions);
    free(f);
}

int framing_use(struct framing *f, const struct pathmap *map, struct fathom_error *err)
{
    uint32_t functions = pathmap_function_count(map);
    uint32_t *items = malloc((functions + 1) * sizeof *items);
    if (!items)
        return error_memory(err);
    memset(items, 0xff, functions * sizeof *items);
    free(f->items);
    f->items = items;
    f->map = map;
    return 0;
}

const struct frames *framing_frames(const struct framing *f)
{
    return f->frames;
}

static int append_item(struct framing *f, uint32_t item, struct fathom_error *err)
{
    return item != NO_ITEM && vec_push(f->path, f->depth, f->capacity, item) ? 0 : error_memory(err);
}

/* count: negative: out of memory. */
static int append_items(struct framing *f, const uint32_t *items, int count, struct fathom_error *err)
{
    int rc = count < 0 ? error_memory(err) : 0;
    for (int i = 0; rc == 0 && i < count; i++)
        rc = append_item(f, items[i], err);
    return rc;
}

static int append_label(struct framing *f, const char *text, struct fathom_error *err)
{
    return append_item(f, frames_label(f->frames, FRAME_LABEL, text), err);
}

uint32_t framing_waker(struct framing *f, const char *text)
{
    return frames_label(f->frames, FRAME_WAKER, text);
}

int framing_unsure(struct framing *f, const char *text, struct fathom_error *err)
{
    return append_item(f, frames_label(f->frames, FRAME_UNSURE, text), err);
}

static int append_level(struct framing *f, enum level level, struct fathom_error *err)
{
    uint32_t items[LEVEL_FRAMES];
    if (level_needs_cgroup(level)) {
        f->cgroup_wanted = true;
        f->cgroup_known |= f->process && process_cgroup(f->process, f->sample);
    }
    return append_items(f, items, level_frames(level, f->frames, f->process, f->sample, items), err);
}

/* Whether the level of the sample's thread is known. A thread that woke another one was running; interrupts, timers, and
 * threads that are not recorded have no known level. */
static bool has_level(const struct sample *sample, enum level level)
{
    return !sample->waker || (sample->has_regs && level != LEVEL_STATE);
}

int framing_begin(struct framing *f, const struct process *process, const struct sample *sample,
                  struct fathom_error *err)
{
    int rc = 0;
    f->depth = 0;
    f->process = process;
    f->sample = sample;
    for (unsigned i = 0; rc == 0 && i < f->options.levels.count; i++)
        if (has_level(sample, (enum level)f->options.levels.at[i]))
            rc = append_level(f, (enum level)f->options.levels.at[i], err);
    if (rc < 0 || !f->options.threads || !has_level(sample, LEVEL_TID))
        return rc;
    char text[64];
    snprintf(text, sizeof text, "%s/%u", process ? process_thread_name(process, sample->tid) : "?",
             sample->tid);
    return append_label(f, text, err);
}

/* Named by the binary if it is available, otherwise by the map. */
uint32_t framing_item(struct framing *f, uint32_t function)
{
    if (f->items[function] != NO_ITEM)
        return f->items[function];
    struct image *image;
    uint32_t index, item;
    if (locate_function(f->images, f->map, function, &image, &index)) {
        item = frames_function(f->frames, image, index);
    } else {
        struct pathmap_function named = pathmap_function(f->map, function);
        const char *path = pathmap_image(f->map, named.image).path;
        item = partial_is_image(path) ? frames_label(f->frames, FRAME_PARTIAL, named.name)
                                      : frames_symbol(f->frames, path, named.name, named.address);
    }
    f->items[function] = item;
    return item;
}

int framing_functions(struct framing *f, const uint32_t *functions, size_t count, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = append_item(f, framing_item(f, functions[i]), err);
    return rc;
}

/* Appends the frames of a function's call of the next one. */
static int append_call(struct framing *f, uint32_t function, uint32_t next, const struct call_step *step,
                       struct fathom_error *err)
{
    struct image *image, *to;
    uint32_t index, items[INLINED_MOST];
    struct alike_callee callee = {0};
    if (!locate_function(f->images, f->map, function, &image, &index))
        return 0;
    if (locate_function(f->images, f->map, next, &to, &callee.function))
        callee.image = to;
    return append_items(f, items, inlined_call(f->inlined, image, index, step, &callee, items), err);
}

/* Appends the functions of a path and the frames of its call sites, and caches them. */
static int frame_calls(struct framing *f, const uint32_t *functions, uint32_t depth, struct framed **out,
                       struct fathom_error *err)
{
    size_t before = f->depth;
    uint32_t *ends = calloc(depth + 1, sizeof *ends);
    int rc = ends ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < depth; i++) {
        rc = append_item(f, framing_item(f, functions[i]), err);
        ends[i] = (uint32_t)(f->depth - before);
        if (rc == 0 && i < f->sites.count)
            rc = append_call(f, functions[i], functions[i + 1], &f->sites.steps[i], err);
    }
    size_t count = f->depth - before;
    struct framed *framed =
        rc == 0 ? arena_alloc(f->arena, sizeof *framed + (depth + count) * sizeof framed->words[0]) : NULL;
    f->depth = before;
    if (framed) {
        framed->depth = depth;
        memcpy(framed->words, ends, depth * sizeof *ends);
        memcpy(framed->words + depth, f->path + before, count * sizeof *f->path);
        *out = framed;
    } else if (rc == 0) {
        rc = error_memory(err);
    }
    free(ends);
    return rc;
}

/* Appends a node's path with inlined functions and lines. */
static int append_framed(struct framing *f, uint32_t node, uint32_t depth, enum path_sites whose,
                         struct fathom_error *err)
{
    uint64_t *place = table_put(f->framed, (uint64_t)node << 2 | whose, NULL);
    struct framed *framed = place ? (struct framed *)(uintptr_t)*place : NULL;
    int rc = place ? 0 : error_memory(err);
    if (rc == 0 && !framed) {
        int all = pathmap_read_path(f->map, node, &f->functions, &f->function_capacity, err);
        rc = all < 0 ? all : call_sites_find(&f->sites, f->map, node, whose, err);
        if (rc == 0)
            rc = frame_calls(f, f->functions, (uint32_t)all, &framed, err);
        *place = (uintptr_t)(rc == 0 ? framed : NULL);
    }
    if (rc < 0)
        return rc;
    uint32_t shown = depth < framed->depth ? depth : framed->depth;
    return append_items(f, framed->words + framed->depth, shown ? (int)framed->words[shown - 1] : 0, err);
}

int framing_node(struct framing *f, uint32_t node, uint32_t depth, enum path_sites whose,
                 struct fathom_error *err)
{
    if (f->inlined)
        return append_framed(f, node, depth, whose, err);
    int all = pathmap_read_path(f->map, node, &f->functions, &f->function_capacity, err);
    return all < 0 ? all
                   : framing_functions(f, f->functions, depth < (uint32_t)all ? depth : (uint32_t)all, err);
}

enum path_sites framing_sites(const struct resolved *r)
{
    return r->source == SOURCE_UNWOUND    ? PATH_SITES_OWN
           : r->source == SOURCE_VERIFIED ? PATH_SITES_ALIKE
                                          : PATH_SITES_ANY;
}

int framing_leaf(struct framing *f, uint32_t node, struct fathom_error *err)
{
    return append_item(f, framing_item(f, pathmap_node(f->map, node).function), err);
}

/* Appends the mapped file's name, or a label for code without one. */
static int append_file(struct framing *f, const struct process *process, const struct sample *sample,
                       struct fathom_error *err)
{
    const uint64_t ip = framing_in_kernel(f, sample) && sample->has_regs ? sample->reg_ip : sample->ip;
    const struct mapping *m = process ? process_mapping(process, ip) : NULL;
    const char *name = m && m->path ? m->path : "code outside all files";
    char text[256];
    if (m && m->path && mapped_is_run_time(m->path))
        return append_label(f, RUN_TIME_NAME, err);
    snprintf(text, sizeof text, "[%s]", path_base(name));
    return append_label(f, text, err);
}

/* Appends a frame for a thread of the kernel, or another one without memory of its own. */
static int append_kernel_thread(struct framing *f, const struct process *process, const struct sample *sample,
                                struct fathom_error *err)
{
    int rc = append_label(f, "[kernel]", err);
    return rc < 0 ? rc : append_label(f, process ? process_thread_name(process, sample->tid) : "?", err);
}

int framing_unknown(struct framing *f, const struct process *process, const struct sample *sample,
                    const struct resolved *r, struct fathom_error *err)
{
    if (r->reason == UNKNOWN_KERNEL && f->options.kernel_threads && framing_in_kernel(f, sample))
        return append_kernel_thread(f, process, sample, err);
    int rc = append_item(f, frames_label(f->frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]"), err);
    if (rc < 0)
        return rc;
    struct place by_ip = {0};
    const struct place *place = &r->cid.place;
    if (!place->image && process && process_place(process, sample->ip, &by_ip))
        place = &by_ip;
    if (place->image && place->function != IMAGE_NO_FUNCTION)
        return append_item(f, frames_function(f->frames, place->image, place->function), err);
    if (r->reason == UNKNOWN_KERNEL) /* unless its functions follow */
        return framing_in_kernel(f, sample) ? 0 : append_label(f, "[kernel]", err);
    return append_file(f, process, sample, err);
}

/* Appends what is below the sampled function: inlined functions and the source line. */
static int append_source(struct framing *f, const struct place *place, struct fathom_error *err)
{
    uint32_t items[INLINED_MOST];
    int count = place->image ? inlined_at(f->inlined, place->image, place->address, items) : 0;
    return append_items(f, items, count, err);
}

#define NAME_BYTES 1024

typedef int name_data(struct accesses *accesses, const struct data_place *place, uint64_t address, char *out,
                      size_t size, const char **image);

static int append_data(struct framing *f, name_data *name, struct fathom_error *err)
{
    const struct sample *s = f->sample;
    struct data_place place = {0};
    char text[NAME_BYTES];
    struct frame frame = {.kind = FRAME_DATA, .name = text};
    if (f->process && s->addr)
        data_find(f->process, s->tid, s->addr, &place);
    if (name(f->accesses, &place, s->addr, text, sizeof text, &frame.image) < 0)
        return error_memory(err);
    return append_item(f, frames_add(f->frames, &frame), err);
}

/* Appends what the sample accessed, and where that was found if it is known. */
static int append_access(struct framing *f, struct fathom_error *err)
{
    int rc = append_data(f, accesses_name, err);
    enum access_source source = access_source(f->sample->data_src);
    struct frame found = {.kind = FRAME_FOUND, .name = access_source_name(source), .address = source};
    return rc < 0 || source == ACCESS_UNKNOWN ? rc : append_item(f, frames_add(f->frames, &found), err);
}

/* Appends the lock that the thread waits for. */
static int append_lock(struct framing *f, struct fathom_error *err)
{
    return f->sample->wait == WAIT_LOCK && f->sample->addr ? append_data(f, accesses_object, err) : 0;
}

bool framing_lacks_cgroups(const struct framing *f)
{
    return f->cgroup_wanted && !f->cgroup_known;
}

bool framing_in_kernel(const struct framing *f, const struct sample *sample)
{
    return f->options.kernel && sample->mode == SAMPLE_MODE_KERNEL && sample->ip >= KERNEL_ADDRESSES;
}

enum kernel_named framing_kernel_named(const struct framing *f)
{
    return f->named;
}

static int append_kernel_function(struct framing *f, const struct kernel_names *names, uint64_t address,
                                  struct fathom_error *err)
{
    struct kernel_name name;
    enum kernel_named how;
    bool added;
    uint64_t *item = table_put(f->kernel, address, &added);
    if (!item)
        return error_memory(err);
    if (added) {
        *item = NO_ITEM;
        int rc = kernel_names_find(names, address, &name, &how, err);
        if (rc < 0)
            return rc;
        if (how != KERNEL_UNKNOWN && how != KERNEL_NAMED)
            f->named = how;
        *item = frames_add(f->frames,
                           &(struct frame){FRAME_KERNEL, name.name, name.image, name.address, NULL, 0});
    }
    return append_item(f, (uint32_t)*item, err);
}

/* Appends the kernel's functions, from the one that was entered to the sampled one. */
static int append_kernel(struct framing *f, const struct process *process, const struct sample *sample,
                         struct fathom_error *err)
{
    /* No record describes the kernel of a process in its first moments. */
    const struct kernel_names names = {f->options.kernel, process ? process_kernel(process) : NULL};
    if (!names.recorded || !names.recorded->kernel.start)
        return append_item(f, frames_label(f->frames, FRAME_KERNEL, "[kernel]"), err);
    uint32_t first = 0, end = sample->callchain_count;
    const uint64_t *chain = sample->callchain;
    int rc = 0;
    while (first < end && chain[first] != (uint64_t)PERF_CONTEXT_KERNEL)
        first++;
    /* After the marker, the first address is the sample's own; the others are return addresses, each the end of a call. */
    first = first < end ? first + 2 : end;
    for (uint32_t i = first; i < end; i++)
        if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX || chain[i] <= KERNEL_ADDRESSES)
            end = i;
    while (rc == 0 && end > first)
        rc = append_kernel_function(f, &names, chain[--end] - 1, err);
    return rc < 0 ? rc : append_kernel_function(f, &names, sample->ip, err);
}

/* Inserts the functions that the thread's interpreter runs between the path's frames. */
static int join_script(struct framing *f, const struct script_frame *script, struct fathom_error *err)
{
    const uint32_t *path;
    size_t count;
    f->scripts = f->scripts ? f->scripts
                            : script_frames_new(f->frames, f->options.lines || f->options.script_lines,
                                                f->options.script && !f->options.native);
    if (!f->scripts || script_frames_join(f->scripts, script, f->path, f->depth, &path, &count) < 0 ||
        !vec_reserve(f->path, 0, f->capacity, count))
        return error_memory(err);
    if (count)
        memcpy(f->path, path, count * sizeof *path);
    f->depth = count;
    return 0;
}

int framing_end(struct framing *f, const struct place *place, const struct process *process,
                const struct sample *sample, const uint32_t **items, size_t *count, struct fathom_error *err)
{
    int rc = f->inlined && !f->options.calls ? append_source(f, place, err) : 0;
    if (rc == 0 && sample->script && (!f->options.native || f->options.script))
        rc = join_script(f, sample->script, err);
    if (rc == 0 && framing_in_kernel(f, sample))
        rc = append_kernel(f, process, sample, err);
    if (rc == 0 && f->options.accesses)
        rc = append_access(f, err);
    if (rc == 0 && f->options.locks)
        rc = append_lock(f, err);
    if (rc == 0 && sample->wait)
        rc = append_label(f, wait_reason_label(sample->wait), err);
    if (rc == 0 && sample->waker)
        rc = append_item(f, framing_waker(f, sample->waker), err);
    *items = f->path;
    *count = f->depth;
    return rc;
}
