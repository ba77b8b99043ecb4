#include "api/resolve/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "image/lines/lines.h"
#include "infer/samples/locate.h"

#define SOURCES_MOST 64 /* nested inlined functions at one place */

/* Appends the frames of a node's path, from the root inwards. leaf: the point's address. */
static int add_path(struct fathom_answer *a, uint32_t node, uint64_t leaf, struct known_frames *frames,
                    size_t *depth, struct fathom_error *err)
{
    const struct pathmap *map = frames->map;
    const int length = pathmap_path(map, node, NULL, 0);
    if (length < 0)
        return error_set(err, EBADMSG, "the map is damaged: a path in it does not end");
    if (!vec_reserve(a->frames, a->count, a->capacity, (size_t)length))
        return error_memory(err);
    uint64_t address = leaf;
    for (size_t i = (size_t)length; i-- > 0;) {
        const struct pathmap_node n = pathmap_node(map, node);
        const struct fathom_frame *function = known_frames_at(frames, n.function);
        if (!function)
            return error_memory(err);
        a->frames[a->count + i] = (struct answer_frame){*function, n.function, address};
        address = n.site;
        node = n.parent;
    }
    a->count += (size_t)length;
    *depth = (size_t)length;
    return 0;
}

/* Adds the point's function, if no path is known. */
static int add_function(struct fathom_answer *a, const struct place *place, struct fathom_error *err)
{
    if (!place->image || place->function == IMAGE_NO_FUNCTION)
        return 0;
    if (!vec_reserve(a->frames, 0, a->capacity, 1))
        return error_memory(err);
    image_function_format(place->image, place->function, a->name, sizeof a->name);
    a->frames[0] = (struct answer_frame){
        {a->name, image_path(place->image), image_function(place->image, place->function)->address},
        PATHMAP_NONE,
        place->address};
    a->count = a->paths[0].depth = 1;
    return 0;
}

int answer_fill(struct fathom_answer *a, const struct resolved *r, double factor, struct known_frames *frames,
                struct fathom_error *err)
{
    a->known = frames;
    a->place = r->cid.place;
    a->path_count = 0;
    a->count = 0;
    a->paths[0] = (struct answer_path){0};
    a->height = r->cid.reason == UNKNOWN_NOT ? r->cid.height : 0;
    a->reason[0] = 0;
    a->least = a->most = 0;
    if (r->kind == RESOLVED_UNKNOWN) {
        snprintf(a->reason, sizeof a->reason, "%s", unknown_reason_text(r->reason));
        return add_function(a, &r->cid.place, err);
    }
    a->least = r->least;
    a->most = r->most;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->posterior_count; i++) {
        struct answer_path *path = &a->paths[i];
        *path = (struct answer_path){.probability = (double)r->posterior[i].probability * factor,
                                     .first = a->count};
        rc = add_path(a, r->posterior[i].node, r->cid.place.address, frames, &path->depth, err);
        a->path_count += rc == 0;
    }
    return rc;
}

void answer_clear(struct fathom_answer *a)
{
    free(a->frames);
    a->frames = NULL;
}

enum fathom_certainty fathom_answer_certainty(const struct fathom_answer *a)
{
    return a->path_count ? FATHOM_INFERRED : FATHOM_UNKNOWN;
}

enum fathom_novelty fathom_answer_novelty(const struct fathom_answer *a)
{
    return a->novelty;
}

const char *fathom_answer_reason(const struct fathom_answer *a)
{
    return a->reason;
}

uint64_t fathom_answer_height(const struct fathom_answer *a)
{
    return a->height;
}

unsigned fathom_answer_paths(const struct fathom_answer *a)
{
    return a->path_count;
}

double fathom_answer_probability(const struct fathom_answer *a, unsigned rank)
{
    return rank < a->path_count ? a->paths[rank].probability : 0;
}

void fathom_answer_range(const struct fathom_answer *a, double *least, double *most)
{
    *least = a->least;
    *most = a->most;
}

size_t fathom_answer_depth(const struct fathom_answer *a, unsigned rank)
{
    return rank == 0 || rank < a->path_count ? a->paths[rank].depth : 0;
}

static const struct answer_frame *frame_at(const struct fathom_answer *a, unsigned rank, size_t frame)
{
    return &a->frames[a->paths[rank].first + frame];
}

const char *fathom_answer_function(const struct fathom_answer *a, unsigned rank, size_t frame)
{
    return frame_at(a, rank, frame)->function.function;
}

const char *fathom_answer_image(const struct fathom_answer *a, unsigned rank, size_t frame)
{
    return frame_at(a, rank, frame)->function.image;
}

uint64_t fathom_answer_entry(const struct fathom_answer *a, unsigned rank, size_t frame)
{
    return frame_at(a, rank, frame)->function.address;
}

uint64_t fathom_answer_address(const struct fathom_answer *a, unsigned rank, size_t frame)
{
    return frame_at(a, rank, frame)->address;
}

size_t fathom_answer_source(const struct fathom_answer *a, unsigned rank, size_t frame,
                            struct fathom_source *out, size_t most)
{
    const struct answer_frame *f = frame_at(a, rank, frame);
    struct image *image = a->place.image;
    uint32_t function = a->place.function;
    /* The call ends at its return address, which may belong to the next line or function. */
    const uint64_t address = frame + 1 < a->paths[rank].depth && f->address ? f->address - 1 : f->address;
    if ((f->number != PATHMAP_NONE &&
         !locate_function(a->known->images, a->known->map, f->number, &image, &function)) ||
        !address || image_function_at(image, address) != function)
        return 0;
    struct lines *lines = image_cache_lines(a->known->images, image, IMAGE_LINES_ANY);
    struct line_frame found[SOURCES_MOST];
    size_t count = lines ? lines_at(lines, address, found, SOURCES_MOST) : 0;
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct fathom_source){found[i].function, found[i].file, found[i].line};
    return count;
}
