/* framing.c - see framing.h. */
#include "profile/framing.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/lines/lines.h"
#include "infer/samples/locate.h"

#define NO_ITEM     UINT32_MAX
#define MAX_INLINED 32

struct framing {
    struct framing_options options;
    struct image_cache *images;
    const struct pathmap *map; /* NULL before framing_use() */
    struct frames *frames;
    uint32_t *items;     /* by map function: its frame, NO_ITEM before it is looked up */
    struct table *lines; /* image -> struct lines, 0 if it has none */
    uint32_t *path;      /* frames from the root inwards */
    size_t depth, room;  /* of path */
    uint32_t *functions; /* of a node's path in the map */
    size_t function_room;
    struct table *kernel; /* address in the kernel -> its frame */
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
    f->lines = table_new();
    f->kernel = table_new();
    if (!f->frames || !f->lines || !f->kernel) {
        framing_free(f);
        return NULL;
    }
    return f;
}

void framing_free(struct framing *f)
{
    if (!f)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (f->lines && table_next(f->lines, &cursor, &key, &value))
        lines_close((struct lines *)(uintptr_t)value);
    table_free(f->lines);
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

static int append(struct framing *f, uint32_t item, struct fathom_error *err)
{
    return item != NO_ITEM && vec_push(f->path, f->depth, f->room, item) ? 0 : error_memory(err);
}

int framing_label(struct framing *f, const char *text, struct fathom_error *err)
{
    return append(f, frames_label(f->frames, FRAME_LABEL, text), err);
}

int framing_begin(struct framing *f, const struct process *process, const struct sample *sample,
                  struct fathom_error *err)
{
    f->depth = 0;
    if (!f->options.threads)
        return 0;
    char text[64];
    snprintf(text, sizeof text, "%s/%u", process ? process_thread_name(process, sample->tid) : "?",
             sample->tid);
    return framing_label(f, text, err);
}

/* Named by the binary if available, otherwise by the map. */
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
        const char *path = pathmap_image(f->map, named.image).path, *slash = strrchr(path, '/');
        item = frames_named(f->frames, named.name, slash ? slash + 1 : path, named.address);
    }
    f->items[function] = item;
    return item;
}

int framing_functions(struct framing *f, const uint32_t *functions, size_t count, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = append(f, framing_item(f, functions[i]), err);
    return rc;
}

int framing_node(struct framing *f, uint32_t node, uint32_t depth, struct fathom_error *err)
{
    int all = pathmap_read_path(f->map, node, &f->functions, &f->function_room, err);
    return all < 0 ? all
                   : framing_functions(f, f->functions, depth < (uint32_t)all ? depth : (uint32_t)all, err);
}

int framing_leaf(struct framing *f, uint32_t node, struct fathom_error *err)
{
    return append(f, framing_item(f, pathmap_node(f->map, node).function), err);
}

/* Appends the mapped file's name, or a label for code without a file. */
static int append_file(struct framing *f, const struct process *process, const struct sample *sample,
                       struct fathom_error *err)
{
    const uint64_t ip = framing_in_kernel(f, sample) && sample->has_regs ? sample->reg_ip : sample->ip;
    const struct mapping *m = process ? process_mapping(process, ip) : NULL;
    const char *name = m && m->path ? m->path : "code outside all files";
    const char *slash = strrchr(name, '/');
    char text[256];
    snprintf(text, sizeof text, "[%s]", slash ? slash + 1 : name);
    return framing_label(f, text, err);
}

/* A thread of the kernel, or one without memory of its own. */
static int append_kernel_thread(struct framing *f, const struct process *process, const struct sample *sample,
                                struct fathom_error *err)
{
    int rc = framing_label(f, "[kernel]", err);
    return rc < 0 ? rc : framing_label(f, process ? process_thread_name(process, sample->tid) : "?", err);
}

int framing_unknown(struct framing *f, const struct process *process, const struct sample *sample,
                    const struct resolved *r, struct fathom_error *err)
{
    if (r->reason == UNKNOWN_KERNEL && f->options.kernel_threads && framing_in_kernel(f, sample))
        return append_kernel_thread(f, process, sample, err);
    int rc = append(f, frames_label(f->frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]"), err);
    if (rc < 0)
        return rc;
    struct place by_ip = {0};
    const struct place *place = &r->cid.place;
    if (!place->image && process && process_place(process, sample->ip, &by_ip))
        place = &by_ip;
    if (place->image && place->function != IMAGE_NO_FUNCTION)
        return append(f, frames_function(f->frames, place->image, place->function), err);
    if (r->reason == UNKNOWN_KERNEL) /* or its functions follow */
        return framing_in_kernel(f, sample) ? 0 : framing_label(f, "[kernel]", err);
    return append_file(f, process, sample, err);
}

static struct lines *lines_of(struct framing *f, const struct image *image)
{
    bool added;
    uint64_t *place = table_put(f->lines, (uintptr_t)image, &added);
    struct lines *lines = NULL;
    if (!place)
        return NULL;
    if (added) {
        const struct image_options *options = image_cache_options(f->images);
        struct fathom_error why = {0};
        int rc = lines_open(image, options, &lines, &why);
        if (rc < 0 && rc != -ENODATA)
            log_write(options->log, LOG_WARNING, "%s", why.text);
        *place = (uintptr_t)lines;
    }
    return (struct lines *)(uintptr_t)*place;
}

/* Appends what goes below the sampled function: inlined functions and the source line. */
static int append_source(struct framing *f, const struct place *place, struct fathom_error *err)
{
    struct lines *lines = place->image ? lines_of(f, place->image) : NULL;
    struct line_frame frames[MAX_INLINED];
    size_t count = lines ? lines_at(lines, place->address, frames, MAX_INLINED) : 0;
    int rc = 0;
    if (!count)
        return 0;
    for (size_t i = count - 1; rc == 0 && f->options.inlined && i-- > 0;) {
        if (frames[i].function)
            rc = append(f, frames_label(f->frames, FRAME_INLINED, frames[i].function), err);
    }
    if (rc < 0 || !f->options.lines || !frames[0].file || !frames[0].line)
        return rc;
    const char *slash = strrchr(frames[0].file, '/');
    char text[512];
    snprintf(text, sizeof text, "%s:%u", slash ? slash + 1 : frames[0].file, frames[0].line);
    return framing_label(f, text, err);
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
        *item =
            frames_add(f->frames, &(struct frame){FRAME_KERNEL, name.name, name.image, name.address, NULL});
    }
    return append(f, (uint32_t)*item, err);
}

/* Appends the kernel's functions, from the one that was entered to the one that the sample was taken in. */
static int append_kernel(struct framing *f, const struct process *process, const struct sample *sample,
                         struct fathom_error *err)
{
    /* No record tells of a process in its first moments. */
    const struct kernel_names names = {f->options.kernel, process ? process_kernel(process) : NULL};
    if (!names.recorded || !names.recorded->kernel.start)
        return append(f, frames_label(f->frames, FRAME_KERNEL, "[kernel]"), err);
    uint32_t first = 0, end = sample->callchain_count;
    const uint64_t *chain = sample->callchain;
    int rc = 0;
    while (first < end && chain[first] != (uint64_t)PERF_CONTEXT_KERNEL)
        first++;
    /* Behind the mark, the first is the sample's own; the others are return addresses, each the end of a call. */
    first = first < end ? first + 2 : end;
    for (uint32_t i = first; i < end; i++)
        if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX || chain[i] <= KERNEL_ADDRESSES)
            end = i;
    while (rc == 0 && end > first)
        rc = append_kernel_function(f, &names, chain[--end] - 1, err);
    return rc < 0 ? rc : append_kernel_function(f, &names, sample->ip, err);
}

int framing_end(struct framing *f, const struct place *place, const struct process *process,
                const struct sample *sample, const uint32_t **items, size_t *count, struct fathom_error *err)
{
    int rc = f->options.inlined || f->options.lines ? append_source(f, place, err) : 0;
    if (rc == 0 && framing_in_kernel(f, sample))
        rc = append_kernel(f, process, sample, err);
    *items = f->path;
    *count = f->depth;
    return rc;
}
