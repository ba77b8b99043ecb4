/* truth.c - see truth.h. */
#include "cli/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "infer/locate.h"

struct path {
    const struct true_frame *frames;
    size_t depth;
};

struct truth {
    const struct pathmap *map;
    struct image_cache *images;
    struct table
        *known; /* sample or CID, hashed -> first share << 32 | count; count 0: first is the reason */
    struct table *numbers; /* path, hashed -> its number */
    struct arena *arena;
    struct path *paths;
    uint32_t path_count, path_room;
    struct true_share *shares;
    uint32_t share_count, share_room;
    struct unwind_frame *unwound; /* scratch, UNWIND_MAX_FRAMES of them */
    struct true_frame *frames;    /* scratch, `room` of each */
    uint32_t *functions;
    size_t room;
    bool hooked; /* the map has images of which it saw every call */
};

const char *no_truth_text(unsigned reason)
{
    return reason == NO_TRUTH_IN_MAP ? "the truth map does not have its CID"
                                     : unwind_end_text((enum unwind_end)reason);
}

static bool reserve(struct truth *t, size_t depth)
{
    if (depth <= t->room)
        return true;
    struct true_frame *frames = realloc(t->frames, depth * sizeof *frames);
    if (frames)
        t->frames = frames;
    uint32_t *functions = realloc(t->functions, depth * sizeof *functions);
    if (functions)
        t->functions = functions;
    if (frames && functions)
        t->room = depth;
    return frames && functions;
}

struct truth *truth_new(const struct pathmap *map, struct image_cache *images)
{
    struct truth *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->map = map;
    t->images = images;
    t->known = table_new();
    t->numbers = table_new();
    t->arena = arena_new(0);
    t->unwound = calloc(UNWIND_MAX_FRAMES, sizeof *t->unwound);
    if (!t->known || !t->numbers || !t->arena || !t->unwound || !reserve(t, UNWIND_MAX_FRAMES)) {
        truth_free(t);
        return NULL;
    }
    for (uint32_t i = 0; map && i < pathmap_image_count(map); i++)
        t->hooked = t->hooked || pathmap_image(map, i).hooked;
    return t;
}

void truth_free(struct truth *t)
{
    if (!t)
        return;
    table_free(t->known);
    table_free(t->numbers);
    arena_free(t->arena);
    free(t->paths);
    free(t->shares);
    free(t->unwound);
    free(t->frames);
    free(t->functions);
    free(t);
}

/* The number of the path in t->frames; UINT32_MAX: out of memory. */
static uint32_t number_path(struct truth *t, size_t depth)
{
    bool added;
    size_t bytes = depth * sizeof *t->frames;
    uint64_t *place = table_put(t->numbers, checksum_of(t->frames, bytes), &added);
    if (!place)
        return UINT32_MAX;
    if (!added)
        return (uint32_t)*place;
    if (t->path_count == t->path_room) {
        uint32_t room = t->path_room ? t->path_room * 2 : 256;
        struct path *paths = realloc(t->paths, room * sizeof *paths);
        if (!paths)
            return UINT32_MAX;
        t->paths = paths;
        t->path_room = room;
    }
    struct true_frame *frames = arena_alloc(t->arena, bytes + 1);
    if (!frames)
        return UINT32_MAX;
    memcpy(frames, t->frames, bytes);
    *place = t->path_count;
    t->paths[t->path_count] = (struct path){frames, depth};
    return t->path_count++;
}

static bool add_share(struct truth *t, struct true_share share)
{
    if (t->share_count == t->share_room) {
        uint32_t room = t->share_room ? t->share_room * 2 : 256;
        struct true_share *shares = realloc(t->shares, room * sizeof *shares);
        if (!shares)
            return false;
        t->shares = shares;
        t->share_room = room;
    }
    t->shares[t->share_count++] = share;
    return true;
}

/* The path of the sample's own stack; its end in *reason, UNWIND_ROOT when it was entered. */
static int enter_unwound(struct truth *t, const struct process *process, const struct sample *sample,
                         unsigned *reason)
{
    enum unwind_end end = UNWIND_CUT;
    size_t count = 0, depth = 0;
    if (process && sample->stack)
        count = unwind_sample(process, sample, t->unwound, UNWIND_MAX_FRAMES, &end);
    *reason = count ? end : UNWIND_CUT;
    if (*reason != UNWIND_ROOT)
        return 0;
    uint64_t base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN)
        base = UINT64_MAX;
    memset(t->frames, 0, count * sizeof *t->frames); /* the bytes between the fields are compared too */
    for (size_t i = count; i-- > 0;) {
        const struct unwind_frame *frame = &t->unwound[i];
        if (frame->cfa > base)
            continue;
        t->frames[depth].image = frame->place.image;
        t->frames[depth++].function = frame->place.function;
    }
    uint32_t path = number_path(t, depth);
    return path != UINT32_MAX && add_share(t, (struct true_share){path, 1}) ? 1 : -ENOMEM;
}

/* A map's path as frames: its number. */
static int number_node(struct truth *t, uint32_t node, uint32_t *number)
{
    int depth = pathmap_path(t->map, node, t->functions, t->room);
    if (depth < 0)
        return -EBADMSG;
    if ((size_t)depth > t->room) {
        if (!reserve(t, (size_t)depth))
            return -ENOMEM;
        pathmap_path(t->map, node, t->functions, t->room);
    }
    memset(t->frames, 0, (size_t)depth * sizeof *t->frames);
    for (int i = 0; i < depth; i++) {
        struct image *image;
        uint32_t function;
        t->frames[i].function = IMAGE_NO_FUNCTION;
        if (!locate_function(t->images, t->map, t->functions[i], &image, &function))
            continue;
        t->frames[i].image = image;
        t->frames[i].function = function;
    }
    *number = number_path(t, (size_t)depth);
    return *number == UINT32_MAX ? -ENOMEM : 0;
}

/* Nodes of one function path stand side by side: each path gets the sum of its nodes. */
static int enter_nodes(struct truth *t, uint32_t first, uint32_t count)
{
    uint64_t self = 0;
    for (uint32_t i = first; i < first + count; i++)
        self += pathmap_node(t->map, i).self;
    double all = 0;
    uint32_t entered = t->share_count, last = PATHMAP_NONE;
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node node = pathmap_node(t->map, i);
        double counted = (double)(self ? node.self : node.passes);
        if (node.path != last) {
            struct true_share share = {0, 0};
            int rc = number_node(t, i, &share.path);
            if (rc == 0 && !add_share(t, share))
                rc = -ENOMEM;
            if (rc < 0)
                return rc;
        }
        last = node.path;
        t->shares[t->share_count - 1].share += counted;
        all += counted;
    }
    uint32_t paths = t->share_count - entered;
    for (uint32_t i = entered; i < t->share_count; i++)
        t->shares[i].share = all > 0 ? t->shares[i].share / all : 1.0 / paths;
    return (int)paths;
}

/* The paths that the map has for the CID. */
static int enter_mapped(struct truth *t, const struct place *place, uint64_t height, unsigned *reason)
{
    *reason = NO_TRUTH_IN_MAP;
    if (!place->image || place->function == IMAGE_NO_FUNCTION || height > UINT32_MAX)
        return 0;
    uint32_t image = pathmap_find_image(t->map, image_path(place->image), image_build_id(place->image), NULL);
    uint32_t function =
        image == PATHMAP_NONE
            ? PATHMAP_NONE
            : pathmap_find_function(t->map, image, image_function(place->image, place->function)->address);
    uint32_t first,
        count = function == PATHMAP_NONE ? 0 : pathmap_find(t->map, function, (uint32_t)height, &first);
    return count ? enter_nodes(t, first, count) : 0;
}

/* What a sample is known by: all that its truth depends on. */
static uint64_t sample_key(const struct truth *t, const struct sample *sample, const struct place *place,
                           uint64_t height)
{
    uint64_t cid[] = {(uintptr_t)place->image, place->function, height};
    uint64_t moment[] = {(uint64_t)sample->pid << 32 | sample->tid, sample->time, sample->sp, sample->ip};
    return t->map ? checksum_of(cid, sizeof cid) : checksum_of(moment, sizeof moment);
}

int truth_of(struct truth *t, const struct process *process, const struct sample *sample,
             const struct place *place, uint64_t height, const struct true_share **shares, unsigned *reason,
             struct fathom_error *err)
{
    bool added;
    uint64_t *known = table_put(t->known, sample_key(t, sample, place, height), &added);
    if (!known)
        return error_memory(err);
    if (added) {
        uint32_t first = t->share_count;
        unsigned why;
        int count = t->map ? enter_mapped(t, place, height, &why) : enter_unwound(t, process, sample, &why);
        if (count == -EBADMSG)
            return error_set(err, EBADMSG, "the truth map is damaged: a path in it does not end");
        if (count < 0)
            return error_memory(err);
        *known = (uint64_t)(count ? first : why) << 32 | (uint32_t)count;
    }
    uint32_t first = (uint32_t)(*known >> 32), count = (uint32_t)*known;
    *reason = count ? 0 : first;
    *shares = t->shares + (count ? first : 0);
    return (int)count;
}

size_t truth_path(const struct truth *t, uint32_t path, const struct true_frame **frames)
{
    *frames = t->paths[path].frames;
    return t->paths[path].depth;
}

bool truth_covers(const struct truth *t, const char *image, const struct build_id *id)
{
    if (!t->hooked)
        return true;
    uint32_t number = pathmap_find_image(t->map, image, id, NULL);
    return number != PATHMAP_NONE && pathmap_covers(t->map, number);
}
