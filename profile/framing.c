/* framing.c - see framing.h. */
#include "profile/framing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/samples/locate.h"
#include "profile/access.h"
#include "profile/inlined.h"

#define NO_ITEM UINT32_MAX

/* A node's path as frames, with those of its call sites. */
struct framed {
    uint32_t depth;   /* functions */
    uint32_t words[]; /* for each function, the number of frames up to it and with it; then the frames */
};

struct framing {
    struct framing_options options;
    struct image_cache *images;
    const struct pathmap *map; /* NULL before framing_use() */
    struct frames *frames;
    uint32_t *items;         /* by map function: its frame, NO_ITEM before it is looked up */
    struct inlined *inlined; /* NULL: neither inlined functions nor lines are wanted */
    struct call_sites sites;
    struct table
        *framed;         /* of nodes, if they are: node << 1 | whether its sites are known -> struct framed */
    struct arena *arena; /* of these */
    uint32_t *path;      /* frames from the root inwards */
    size_t depth, room;  /* of path */
    uint32_t *functions; /* of a node's path in the map */
    size_t function_room;
    struct accesses *accesses;     /* NULL: not wanted */
    const struct process *process; /* of the path that was begun */
    const struct sample *sample;
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
    bool source = options->inlined || options->lines;
    if (source && f->frames)
        f->inlined = inlined_new(f->frames, images, options->inlined, options->lines);
    if (options->accesses)
        f->accesses = accesses_new();
    if (!f->frames || !f->framed || !f->arena || (source && !f->inlined) ||
        (options->accesses && !f->accesses)) {
        framing_free(f);
        return NULL;
    }
    return f;
}

void framing_free(struct framing *f)
{
    if (!f)
        return;
    inlined_free(f->inlined);
    call_sites_clear(&f->sites);
    table_free(f->framed);
    arena_free(f->arena);
    accesses_free(f->accesses);
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

int framing_unsure(struct framing *f, const char *text, struct fathom_error *err)
{
    return append(f, frames_label(f->frames, FRAME_UNSURE, text), err);
}

int framing_begin(struct framing *f, const struct process *process, const struct sample *sample,
                  struct fathom_error *err)
{
    f->depth = 0;
    f->process = process;
    f->sample = sample;
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

/* Appends the frames of a function's call of the next one. */
static int append_call(struct framing *f, uint32_t function, const struct call_step *step,
                       struct fathom_error *err)
{
    struct image *image;
    uint32_t index, items[INLINED_MOST];
    if (!locate_function(f->images, f->map, function, &image, &index))
        return 0;
    int count = inlined_call(f->inlined, image, index, step, items), rc = count < 0 ? error_memory(err) : 0;
    for (int i = 0; rc == 0 && i < count; i++)
        rc = append(f, items[i], err);
    return rc;
}

/* Appends the functions of a path and the frames of its call sites, and keeps them. */
static int frame_calls(struct framing *f, const uint32_t *functions, uint32_t depth, struct framed **out,
                       struct fathom_error *err)
{
    size_t before = f->depth;
    uint32_t *ends = calloc(depth + 1, sizeof *ends);
    int rc = ends ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < depth; i++) {
        rc = append(f, framing_item(f, functions[i]), err);
        ends[i] = (uint32_t)(f->depth - before);
        if (rc == 0 && i < f->sites.count)
            rc = append_call(f, functions[i], &f->sites.steps[i], err);
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

/* A node's path with inlined functions and lines. */
static int append_framed(struct framing *f, uint32_t node, uint32_t depth, bool own, struct fathom_error *err)
{
    uint64_t *place = table_put(f->framed, (uint64_t)node << 1 | own, NULL);
    struct framed *framed = place ? (struct framed *)(uintptr_t)*place : NULL;
    int rc = place ? 0 : error_memory(err);
    if (rc == 0 && !framed) {
        int all = pathmap_read_path(f->map, node, &f->functions, &f->function_room, err);
        rc = all < 0 ? all : call_sites_find(&f->sites, f->map, node, own, err);
        if (rc == 0)
            rc = frame_calls(f, f->functions, (uint32_t)all, &framed, err);
        *place = (uintptr_t)(rc == 0 ? framed : NULL);
    }
    if (rc < 0)
        return rc;
    uint32_t shown = depth < framed->depth ? depth : framed->depth;
    uint32_t count = shown ? framed->words[shown - 1] : 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = append(f, framed->words[framed->depth + i], err);
    return rc;
}

int framing_node(struct framing *f, uint32_t node, uint32_t depth, bool own, struct fathom_error *err)
{
    if (f->inlined)
        return append_framed(f, node, depth, own, err);
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
    const struct mapping *m = process ? process_mapping(process, sample->ip) : NULL;
    const char *name = m && m->path ? m->path : "code outside all files";
    const char *slash = strrchr(name, '/');
    char text[256];
    snprintf(text, sizeof text, "[%s]", slash ? slash + 1 : name);
    return framing_label(f, text, err);
}

int framing_unknown(struct framing *f, const struct process *process, const struct sample *sample,
                    const struct resolved *r, struct fathom_error *err)
{
    int rc = append(f, frames_label(f->frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]"), err);
    if (rc < 0)
        return rc;
    struct place by_ip = {0};
    const struct place *place = &r->cid.place;
    if (!place->image && process && process_place(process, sample->ip, &by_ip))
        place = &by_ip;
    if (place->image && place->function != IMAGE_NO_FUNCTION)
        return append(f, frames_function(f->frames, place->image, place->function), err);
    if (r->reason == UNKNOWN_KERNEL)
        return framing_label(f, "[kernel]", err);
    return append_file(f, process, sample, err);
}

/* Appends what goes below the sampled function: inlined functions and the source line. */
static int append_source(struct framing *f, const struct place *place, struct fathom_error *err)
{
    uint32_t items[INLINED_MOST];
    int count = place->image ? inlined_at(f->inlined, place->image, place->address, items) : 0;
    int rc = count < 0 ? error_memory(err) : 0;
    for (int i = 0; rc == 0 && i < count; i++)
        rc = append(f, items[i], err);
    return rc;
}

/* Appends what the sample accessed, and where it was found if it tells. */
static int append_access(struct framing *f, struct fathom_error *err)
{
    const struct sample *s = f->sample;
    struct data_place place = {0};
    if (f->process && s->addr)
        data_find(f->process, s->tid, s->addr, &place);
    struct frame frame = {.kind = FRAME_DATA};
    frame.name = accesses_name(f->accesses, &place, &frame.image);
    int rc = frame.name ? append(f, frames_add(f->frames, &frame), err) : error_memory(err);
    enum access_source source = access_source(s->data_src);
    struct frame found = {.kind = FRAME_FOUND, .name = access_source_name(source), .address = source};
    return rc < 0 || source == ACCESS_UNKNOWN ? rc : append(f, frames_add(f->frames, &found), err);
}

int framing_end(struct framing *f, const struct place *place, const uint32_t **items, size_t *count,
                struct fathom_error *err)
{
    int rc = f->inlined ? append_source(f, place, err) : 0;
    if (rc == 0 && f->accesses)
        rc = append_access(f, err);
    *items = f->path;
    *count = f->depth;
    return rc;
}
