/*
 * truth.c - see truth.h.
 *
 * A path is an array of function numbers: the map's, or for unwound stacks those of a table to which functions are added as
 * they occur.
 */
#include "evaluate/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/name.h"

#define PART    UINT32_C(0x80000000) /* true_shares.part */
#define DERIVED (UINT32_C(1) << 30)  /* the same: some frame was found by a derived row */

struct path {
    const uint32_t *functions;
    size_t depth;
};

/* A function of an unwound stack. */
struct true_place {
    const struct image *image;
    uint32_t function; /* may be IMAGE_NO_FUNCTION */
};

struct truth {
    const struct pathmap *map;
    /* hash of the sample or CID -> first share << 32 | PART | DERIVED | count; count 0: first is the reason */
    struct table *known;
    struct table *numbers;   /* hash of a path -> its number */
    struct table *functions; /* hash of image and function -> index in places + 1; only for unwound stacks */
    struct true_place *places;
    uint32_t place_count, place_capacity;
    struct arena *arena;
    struct path *paths;
    uint32_t path_count, path_capacity;
    struct true_share *shares;
    uint32_t share_count, share_capacity;
    struct unwind_frame *unwound; /* scratch, UNWIND_MAX_FRAMES of them */
    uint32_t *path;               /* scratch */
    size_t capacity;              /* of path */
    bool leaves_out;              /* the map omits frames of images without hooks */
};

const char *no_truth_text(unsigned reason)
{
    if (reason == NO_TRUTH_IN_CHAIN)
        return "its call chain proves no callers";
    return reason == NO_TRUTH_IN_MAP ? "the truth map does not have its CID"
                                     : unwind_end_text((enum unwind_end)reason);
}

struct truth *truth_new(const struct pathmap *map)
{
    struct truth *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->map = map;
    t->known = table_new();
    t->numbers = table_new();
    t->functions = table_new();
    t->arena = arena_new(0);
    t->unwound = calloc(UNWIND_MAX_FRAMES, sizeof *t->unwound);
    if (!t->known || !t->numbers || !t->functions || !t->arena || !t->unwound ||
        !vec_reserve(t->path, 0, t->capacity, UNWIND_MAX_FRAMES)) {
        truth_free(t);
        return NULL;
    }
    t->leaves_out = map && pathmap_leaves_out(map);
    return t;
}

void truth_free(struct truth *t)
{
    if (!t)
        return;
    table_free(t->known);
    table_free(t->numbers);
    table_free(t->functions);
    arena_free(t->arena);
    free(t->places);
    free(t->paths);
    free(t->shares);
    free(t->unwound);
    free(t->path);
    free(t);
}

/* The number of an unwound frame's function; UINT32_MAX: out of memory. */
static uint32_t number_function(struct truth *t, const struct place *place)
{
    uint64_t words[] = {(uintptr_t)place->image, place->function};
    return (uint32_t)table_index(t->functions, checksum_of(words, sizeof words), t->places, t->place_count,
                                 t->place_capacity, (struct true_place){place->image, place->function});
}

/* The number of the path in t->path; UINT32_MAX: out of memory. */
static uint32_t number_path(struct truth *t, size_t depth)
{
    bool added;
    size_t bytes = depth * sizeof *t->path;
    uint64_t *place = table_put(t->numbers, checksum_of(t->path, bytes), &added);
    if (!place)
        return UINT32_MAX;
    if (!added)
        return (uint32_t)*place;
    if (!vec_reserve(t->paths, t->path_count, t->path_capacity, 1))
        return UINT32_MAX;
    uint32_t *functions = arena_alloc(t->arena, bytes + 1);
    if (!functions)
        return UINT32_MAX;
    memcpy(functions, t->path, bytes);
    *place = t->path_count;
    t->paths[t->path_count] = (struct path){functions, depth};
    return t->path_count++;
}

static bool add_share(struct truth *t, struct true_share share)
{
    return vec_push(t->shares, t->share_count, t->share_capacity, share);
}

/* Enters the path of the sample's own stack: 1; 0: there is none, *reason is set. *flags: PART: only the innermost frames,
 * which were proved; DERIVED. */
static int enter_unwound(struct truth *t, const struct process *process, const struct sample *sample,
                         unsigned *reason, uint32_t *flags)
{
    enum unwind_end end = UNWIND_CUT;
    size_t count = 0, depth = 0;
    if (process && (sample->stack || sample->walk))
        count = unwind_sample(process, sample, t->unwound, UNWIND_MAX_FRAMES, &end);
    size_t owned = 0;
    while (owned < count && t->unwound[owned].place.function != IMAGE_NO_FUNCTION)
        owned++;
    const bool part = end != UNWIND_ROOT || owned < count;
    *reason = !count && sample->chain ? NO_TRUTH_IN_CHAIN : end;
    if (part && !owned)
        return 0;
    count = part ? owned : count;
    *flags = part ? PART : 0;
    /* The base of any stack other than the thread's own is set by this walk: an earlier stack may have been at the same place. */
    uint64_t base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN &&
        (part || unwind_base(t->unwound, count, &base) == STACK_UNKNOWN))
        base = UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        const struct unwind_frame *frame = &t->unwound[i];
        if (frame->cfa > base || !frame->place.image)
            continue;
        *flags |= frame->derived ? DERIVED : 0;
        t->path[depth] = number_function(t, &frame->place);
        if (t->path[depth++] == UINT32_MAX)
            return -ENOMEM;
    }
    uint32_t path = number_path(t, depth);
    return path != UINT32_MAX && add_share(t, (struct true_share){path, 1}) ? 1 : -ENOMEM;
}

/* The number of a map's path. */
static int number_node(struct truth *t, uint32_t node, uint32_t *number)
{
    int depth = pathmap_read_path(t->map, node, &t->path, &t->capacity, NULL);
    if (depth < 0)
        return depth;
    *number = number_path(t, (size_t)depth);
    return *number == UINT32_MAX ? -ENOMEM : 0;
}

/* Nodes of one function path are consecutive: each path gets the sum of its nodes. */
static int enter_nodes(struct truth *t, uint32_t first, uint32_t count)
{
    double self = 0;
    for (uint32_t i = first; i < first + count; i++)
        self += (double)pathmap_node(t->map, i).self;
    double all = 0;
    uint32_t entered = t->share_count, last = PATHMAP_NONE;
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node node = pathmap_node(t->map, i);
        double counted = (double)(self > 0 ? node.self : node.passes);
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

/* Enters the paths that the map has for the CID. */
static int enter_mapped(struct truth *t, const struct place *place, uint64_t height, unsigned *reason)
{
    *reason = NO_TRUTH_IN_MAP;
    if (!place->image || place->function == IMAGE_NO_FUNCTION || height > UINT32_MAX)
        return 0;
    uint32_t image = pathmap_find_image(t->map, image_path(place->image), image_build_id(place->image), NULL);
    if (image == PATHMAP_NONE)
        return 0;
    uint64_t address = image_function(place->image, place->function)->address;
    uint32_t function = pathmap_find_function(t->map, image, address), first;
    uint32_t count = function == PATHMAP_NONE ? 0 : pathmap_find(t->map, function, (uint32_t)height, &first);
    return count ? enter_nodes(t, first, count) : 0;
}

/* Hash of everything that the sample's truth depends on. */
static uint64_t sample_key(const struct truth *t, const struct sample *sample, const struct place *place,
                           uint64_t height)
{
    uint64_t cid[] = {(uintptr_t)place->image, place->function, height};
    uint64_t moment[] = {(uint64_t)sample->pid << 32 | sample->tid, sample->time, sample->sp, sample->ip};
    return t->map ? checksum_of(cid, sizeof cid) : checksum_of(moment, sizeof moment);
}

static int check_entered(int count, struct fathom_error *err)
{
    if (count == -EBADMSG)
        return error_set(err, EBADMSG, "the truth map is damaged: a path in it does not end");
    return count < 0 ? error_memory(err) : count;
}

int truth_of(struct truth *t, const struct process *process, const struct sample *sample,
             const struct cid *cid, struct true_shares *out, struct fathom_error *err)
{
    const struct place *place = &cid->place;
    bool added;
    uint64_t *known = table_put(t->known, sample_key(t, sample, place, cid->height), &added);
    if (!known)
        return error_memory(err);
    if (added) {
        uint32_t first = t->share_count;
        unsigned why;
        uint32_t flags = 0;
        int count = t->map ? enter_mapped(t, place, cid->height, &why)
                           : enter_unwound(t, process, sample, &why, &flags);
        if (count < 0)
            return check_entered(count, err);
        *known = (uint64_t)(count ? first : why) << 32 | (count ? flags : 0) | (uint32_t)count;
    }
    uint32_t first = (uint32_t)(*known >> 32), count = (uint32_t)*known & ~(PART | DERIVED);
    *out = (struct true_shares){count ? t->shares + first : NULL, count, count ? 0 : first, *known & PART,
                                *known & DERIVED};
    return 0;
}

int truth_of_cid(struct truth *t, uint32_t function, uint32_t height, struct true_shares *out,
                 struct fathom_error *err)
{
    uint32_t first, nodes = pathmap_find(t->map, function, height, &first), start = t->share_count;
    int count = enter_nodes(t, first, nodes);
    *out = (struct true_shares){t->shares + start, count > 0 ? (size_t)count : 0, 0, false, false};
    return count < 0 ? check_entered(count, err) : 0;
}

size_t truth_path(const struct truth *t, uint32_t path, const uint32_t **functions)
{
    *functions = t->paths[path].functions;
    return t->paths[path].depth;
}

struct true_function truth_function(const struct truth *t, uint32_t function)
{
    if (t->map) {
        struct pathmap_function f = pathmap_function(t->map, function);
        struct pathmap_image image = pathmap_image(t->map, f.image);
        return (struct true_function){image.path, image.build_id, f.address, f.name};
    }
    const struct true_place *place = &t->places[function];
    struct true_function out = {image_path(place->image), *image_build_id(place->image), NO_ADDRESS, NULL};
    if (place->function != IMAGE_NO_FUNCTION) {
        out.address = image_function(place->image, place->function)->address;
        out.name = image_function(place->image, place->function)->name;
    }
    return out;
}

int truth_function_format(const struct truth *t, uint32_t function, char *out, size_t size)
{
    struct true_function f = truth_function(t, function);
    return name_format(f.image, f.address == NO_ADDRESS ? "?" : f.name, f.address, out, size);
}

bool truth_covers(const struct truth *t, const char *image, const struct build_id *id)
{
    if (!t->leaves_out)
        return true;
    uint32_t number = pathmap_find_image(t->map, image, id, NULL);
    return number != PATHMAP_NONE && pathmap_covers(t->map, number);
}
