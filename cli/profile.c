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
#include "cli/common.h"
#include "cli/shares.h"
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
    uint32_t *items;       /* by map function: its frame, NO_ITEM before it was looked up */
    uint64_t *places;      /* by map node, exact tree of plain paths: the cct_node where its path ends */
    uint32_t *path;        /* scratch: frames from the root inwards */
    size_t room;           /* of path */
    struct table *lines;   /* image -> struct lines, 0 when it has none */
    struct shares *shares; /* AMBIGUOUS_SPLIT; NULL before the first sample */
    struct common common;  /* AMBIGUOUS_COMMON: scratch */
    struct table *commons; /* set of nodes, hashed -> where what they have in common ends, as in places */
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
    p->commons = table_new();
    if (options->eps > 0)
        p->bounded = hcct_new(options->eps);
    else
        p->exact = cct_new();
    if (!p->frames || !p->lines || !p->commons || (!p->exact && !p->bounded)) {
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
    table_free(p->commons);
    shares_free(p->shares);
    common_clear(&p->common);
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
    p->shares = p->options.ambiguity == AMBIGUOUS_SPLIT ? shares_new(pathmap_node_count(map)) : NULL;
    if (!p->items || !p->places || (p->options.ambiguity == AMBIGUOUS_SPLIT && !p->shares))
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

/* The same of what several paths have in common, with a frame between that tells how many they are. */
static int append_common(struct profile *p, const struct pathmap *map, const struct resolved *r, size_t at,
                         struct fathom_error *err)
{
    struct common *c = &p->common;
    int rc = common_find(c, map, r->posterior, r->posterior_count, err);
    if (rc < 0)
        return rc;
    if (!reserve(p, at + c->depth + 1))
        return error_memory(err);
    for (size_t i = 0; i < c->outer; i++)
        p->path[at++] = function_item(p, map, c->functions[i]);
    char text[32];
    /* When all that were kept are looked at, those that were not are meant too. */
    bool more = c->paths == r->posterior_count && r->paths > c->paths;
    snprintf(text, sizeof text, "{%u paths}", more ? r->paths : c->paths);
    p->path[at++] = frames_label(p->frames, FRAME_LABEL, text);
    for (size_t i = c->depth - c->inner; i < c->depth; i++)
        p->path[at++] = function_item(p, map, c->functions[i]);
    return (int)at;
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
    p->counts.expected += (double)sample->period * r->probability;
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

/* Where the path of a context ends in the exact tree: its place to remember, NULL when it is not kept. */
static uint64_t *known_place(struct profile *p, const struct resolved *r, bool common)
{
    if (!p->exact || p->options.threads || p->options.inlined || p->options.lines ||
        r->kind == RESOLVED_UNKNOWN)
        return NULL;
    if (!common)
        return &p->places[r->node];
    uint32_t count = common_count(r->posterior, r->posterior_count);
    uint64_t set = 0; /* in whatever order */
    for (uint32_t i = 0; i < count; i++)
        set += hash_u64((uint64_t)r->posterior[i].node + 1);
    return table_put(p->commons, set, NULL);
}

/* Adds the weight on one path: of r->node, or what its candidates have in common, or an unknown one. */
static int add_path(struct profile *p, const struct pathmap *map, const struct process *process,
                    const struct sample *sample, const struct resolved *r, bool common, uint64_t weight,
                    struct fathom_error *err)
{
    uint64_t *place = known_place(p, r, common);
    if (place && *place) {
        cct_weigh(p->exact, (struct cct_node *)(uintptr_t)*place, weight);
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
        int rc = common ? append_common(p, map, r, depth, err) : append_node(p, map, r->node, depth, err);
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
        return hcct_add(p->bounded, p->path, depth, weight) < 0 ? error_memory(err) : 0;
    struct cct_node *node = cct_add(p->exact, p->path, depth, weight);
    if (place)
        *place = (uintptr_t)node;
    return node ? 0 : error_memory(err);
}

/* Adds to each of the sample's paths its share. */
static int add_shares(struct profile *p, const struct pathmap *map, const struct process *process,
                      const struct sample *sample, const struct resolved *r, struct fathom_error *err)
{
    uint64_t parts[CANDIDATES_MAX];
    shares_divide(p->shares, r->posterior, r->posterior_count, sample->period, parts);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->posterior_count; i++) {
        struct resolved one = *r;
        one.node = r->posterior[i].node;
        if (parts[i])
            rc = add_path(p, map, process, sample, &one, false, parts[i], err);
    }
    return rc;
}

int profile_add(struct profile *p, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    int rc = p->items ? 0 : prepare(p, map, err);
    if (rc < 0)
        return rc;
    struct resolved r = *resolved;
    if (r.kind != RESOLVED_UNKNOWN && r.probability < p->options.min_confidence) {
        r.kind = RESOLVED_UNKNOWN;
        r.reason = UNKNOWN_UNSURE;
        r.probability = 0;
    }
    count(p, sample, &r);
    bool several = r.kind != RESOLVED_UNKNOWN && r.posterior_count > 1;
    if (several && p->options.ambiguity == AMBIGUOUS_SPLIT)
        return add_shares(p, map, process, sample, &r, err);
    bool common = several && p->options.ambiguity == AMBIGUOUS_COMMON &&
                  common_count(r.posterior, r.posterior_count) > 1;
    return add_path(p, map, process, sample, &r, common, sample->period, err);
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
