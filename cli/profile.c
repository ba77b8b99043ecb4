/*
 * profile.c - see profile.h.
 *
 * A map node's path is turned into frames once; in the exact tree its place is kept too, so that a sample
 * whose CID was seen before costs one array access.
 */
#include "cli/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/lines.h"
#include "infer/locate.h"

#define NO_ITEM     UINT32_MAX
#define MAX_INLINED 32

struct profile {
    struct profile_options options;
    struct image_cache *images;
    struct frames *frames;
    struct cct *exact; /* one of these two */
    struct hcct *bounded;
    uint32_t *items;          /* by map function: its frame, NO_ITEM before it was looked up */
    struct cct_node **places; /* by map node, exact tree without thread roots: where its path ends */
    uint32_t *path;           /* scratch: frames from the root inwards */
    size_t room;              /* of path */
    struct table *lines;      /* image -> struct lines, 0 when it has none */
    struct profile_counts counts;
};

struct profile *profile_new(const struct profile_options *options, struct image_cache *images)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->options = *options;
    p->images = images;
    p->frames = frames_new();
    p->lines = table_new();
    if (options->eps > 0)
        p->bounded = hcct_new(options->eps);
    else
        p->exact = cct_new();
    if (!p->frames || !p->lines || (!p->exact && !p->bounded)) {
        profile_free(p);
        return NULL;
    }
    return p;
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (p->lines && table_next(p->lines, &cursor, &key, &value))
        lines_close((struct lines *)(uintptr_t)value);
    table_free(p->lines);
    frames_free(p->frames);
    cct_free(p->exact);
    hcct_free(p->bounded);
    free(p->items);
    free(p->places);
    free(p->path);
    free(p);
}

static int prepare(struct profile *p, const struct pathmap *map, struct fathom_error *err)
{
    uint32_t functions = pathmap_function_count(map);
    p->items = malloc((functions + 1) * sizeof *p->items);
    p->places = calloc((size_t)pathmap_node_count(map) + 1, sizeof *p->places);
    if (!p->items || !p->places)
        return error_memory(err);
    memset(p->items, 0xff, functions * sizeof *p->items);
    return 0;
}

static bool reserve(struct profile *p, size_t count)
{
    if (count <= p->room)
        return true;
    size_t room = count * 2 + 64;
    uint32_t *path = realloc(p->path, room * sizeof *path);
    if (!path)
        return false;
    p->path = path;
    p->room = room;
    return true;
}

/* The frame of a map's function: named by the binary when it is here, by the map's words otherwise. */
static uint32_t function_item(struct profile *p, const struct pathmap *map, uint32_t function)
{
    if (p->items[function] != NO_ITEM)
        return p->items[function];
    struct image *image;
    uint32_t index, item;
    if (locate_function(p->images, map, function, &image, &index)) {
        item = frames_function(p->frames, image, index);
    } else {
        struct pathmap_function f = pathmap_function(map, function);
        const char *path = pathmap_image(map, f.image).path, *slash = strrchr(path, '/');
        item = frames_named(p->frames, f.name, slash ? slash + 1 : path, f.address);
    }
    p->items[function] = item;
    return item;
}

static struct lines *lines_of(struct profile *p, const struct image *image)
{
    bool added;
    uint64_t *place = table_put(p->lines, (uintptr_t)image, &added);
    struct lines *lines = NULL;
    if (!place)
        return NULL;
    if (added && lines_open(image, NULL, &lines, NULL) == 0)
        *place = (uintptr_t)lines;
    return (struct lines *)(uintptr_t)*place;
}

/* What stands below the function that the sample is in: inlined functions and the source line. Returns the
 * new length of the path. */
static size_t append_source(struct profile *p, const struct place *place, size_t depth)
{
    struct lines *lines = place->image ? lines_of(p, place->image) : NULL;
    struct line_frame frames[MAX_INLINED];
    size_t count = lines ? lines_at(lines, place->address, frames, MAX_INLINED) : 0;
    if (!count || !reserve(p, depth + count + 1))
        return depth;
    for (size_t i = count - 1; p->options.inlined && i-- > 0;) {
        if (frames[i].function)
            p->path[depth++] = frames_label(p->frames, FRAME_INLINED, frames[i].function);
    }
    if (p->options.lines && frames[0].file && frames[0].line) {
        const char *slash = strrchr(frames[0].file, '/');
        char text[512];
        snprintf(text, sizeof text, "%s:%u", slash ? slash + 1 : frames[0].file, frames[0].line);
        p->path[depth++] = frames_label(p->frames, FRAME_LABEL, text);
    }
    return depth;
}

/* The path of a map's node as frames at p->path[at...]; returns its new length or a negative errno. */
static int append_node(struct profile *p, const struct pathmap *map, uint32_t node, size_t at,
                       struct fathom_error *err)
{
    int depth = pathmap_path(map, node, p->path + at, p->room - at);
    if (depth > 0 && (size_t)depth > p->room - at) {
        if (!reserve(p, at + (size_t)depth))
            return error_memory(err);
        depth = pathmap_path(map, node, p->path + at, p->room - at);
    }
    if (depth < 0)
        return error_set(err, EBADMSG, "the map is damaged: a path in it does not end");
    for (int i = 0; i < depth; i++)
        p->path[at + (size_t)i] = function_item(p, map, p->path[at + (size_t)i]);
    return (int)at + depth;
}

/* An unknown context: what is known of the sample itself. Returns the new length of the path. */
static size_t append_unknown(struct profile *p, const struct process *process, const struct sample *sample,
                             const struct resolved *r, size_t at)
{
    p->path[at++] = frames_label(p->frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]");
    struct place by_ip = {0};
    const struct place *place = &r->cid.place;
    if (!place->image && process && process_place(process, sample->ip, &by_ip))
        place = &by_ip;
    if (place->image && place->function != IMAGE_NO_FUNCTION) {
        p->path[at++] = frames_function(p->frames, place->image, place->function);
    } else if (r->reason == UNKNOWN_KERNEL) {
        p->path[at++] = frames_label(p->frames, FRAME_LABEL, "[kernel]");
    } else {
        const struct mapping *m = process ? process_mapping(process, sample->ip) : NULL;
        const char *name = m && m->path ? m->path : "code outside all files";
        const char *slash = strrchr(name, '/');
        char text[256];
        snprintf(text, sizeof text, "[%s]", slash ? slash + 1 : name);
        p->path[at++] = frames_label(p->frames, FRAME_LABEL, text);
    }
    return at;
}

static void count(struct profile *p, const struct sample *sample, const struct resolved *r)
{
    p->counts.samples++;
    p->counts.weight += sample->period;
    switch (r->kind) {
    case RESOLVED_PRECISE:
        p->counts.precise += sample->period;
        break;
    case RESOLVED_AMBIGUOUS:
        p->counts.ambiguous += sample->period;
        break;
    case RESOLVED_INFERRED:
        p->counts.inferred += sample->period;
        break;
    case RESOLVED_UNKNOWN:
        p->counts.unknown += sample->period;
        p->counts.unknown_by_reason[r->reason] += sample->period;
        break;
    }
}

int profile_add(struct profile *p, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *r, struct fathom_error *err)
{
    int rc = p->items ? 0 : prepare(p, map, err);
    if (rc < 0)
        return rc;
    count(p, sample, r);
    bool plain = p->exact && !p->options.threads && !p->options.inlined && !p->options.lines;
    struct cct_node **place = plain && r->kind != RESOLVED_UNKNOWN ? &p->places[r->node] : NULL;
    if (place && *place) {
        cct_weigh(p->exact, *place, sample->period);
        return 0;
    }
    if (!reserve(p, 64))
        return error_memory(err);
    size_t depth = 0;
    if (p->options.threads) {
        char text[64];
        snprintf(text, sizeof text, "%s/%u", process ? process_thread_name(process, sample->tid) : "?",
                 sample->tid);
        p->path[depth++] = frames_label(p->frames, FRAME_LABEL, text);
    }
    if (r->kind == RESOLVED_UNKNOWN) {
        depth = append_unknown(p, process, sample, r, depth);
    } else {
        rc = append_node(p, map, r->node, depth, err);
        if (rc < 0)
            return rc;
        depth = (size_t)rc;
    }
    if (p->options.inlined || p->options.lines)
        depth = append_source(p, &r->cid.place, depth);
    for (size_t i = 0; i < depth; i++) {
        if (p->path[i] == NO_ITEM)
            return error_memory(err);
    }
    if (p->bounded)
        return hcct_add(p->bounded, p->path, depth, sample->period) < 0 ? error_memory(err) : 0;
    struct cct_node *node = cct_add(p->exact, p->path, depth, sample->period);
    if (place)
        *place = node;
    return node ? 0 : error_memory(err);
}

void profile_counts(const struct profile *p, struct profile_counts *out)
{
    *out = p->counts;
}

const struct frames *profile_frames(const struct profile *p)
{
    return p->frames;
}

struct cct *profile_tree(struct profile *p, double phi, bool *owned)
{
    *owned = p->bounded != NULL;
    return p->bounded ? hcct_query(p->bounded, phi) : p->exact;
}
