#include "api/report/script_chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/report/symbol_file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/run_time.h"
#include "image/script.h"
#include "profile/script_frames.h"

#define OTHERS "[script function]" /* name 0: of functions beyond what the file can hold */

struct script_chain {
    const struct symbol_room *room;
    struct frames *frames;
    struct script_frames *scripts;
    struct table *numbers; /* items of functions -> number of the name */
    const char **names;    /* of `frames` */
    size_t name_count, name_capacity;
    uint32_t *path; /* items of a chain's addresses, the outermost first */
    size_t depth, path_capacity;
    uint64_t *joined;
    size_t joined_count, joined_capacity;
};

struct script_chain *script_chain_new(const struct symbol_room *room)
{
    struct script_chain *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->room = room;
    s->frames = frames_new();
    s->numbers = table_new();
    s->scripts = s->frames ? script_frames_new(s->frames, false, false) : NULL;
    if (s->scripts && s->numbers && vec_push(s->names, s->name_count, s->name_capacity, OTHERS))
        return s;
    script_chain_free(s);
    return NULL;
}

void script_chain_free(struct script_chain *s)
{
    if (!s)
        return;
    script_frames_free(s->scripts);
    frames_free(s->frames);
    table_free(s->numbers);
    free(s->names);
    free(s->path);
    free(s->joined);
    free(s);
}

/* A frame with what script_frames.c joins scripts by: the name of an interpreter's loop or of its core (any function without a name), or
 * the image of code made at run time, with the name that a map has for it. Other functions have the name "". */
static struct frame frame_at(const struct process *process, uint64_t address)
{
    struct frame frame = {.kind = FRAME_FUNCTION, .name = "", .address = address};
    struct place place;
    if (!process_place(process, address, &place))
        return frame;
    const char *name =
        place.function == IMAGE_NO_FUNCTION ? NULL : image_function(place.image, place.function)->name;
    if (image_is_run_time(place.image)) {
        frame.image = RUN_TIME_NAME;
        frame.name = name ? name : "";
        return frame;
    }
    const struct script_runtime *script =
        place.function == IMAGE_NO_FUNCTION ? NULL : image_script(place.image);
    const struct script_facts *facts = script ? script_facts(script->layout.language) : NULL;
    if (facts && facts->core && (!name || !strcmp(name, facts->core)))
        frame.name = facts->core;
    else if (facts && name && !strcmp(name, facts->loop))
        frame.name = facts->loop;
    return frame;
}

/* Lists the frames of the addresses after PERF_CONTEXT_USER, which are those from `first` on. false: out of memory. */
static bool list_frames(struct script_chain *s, const struct process *process, const struct address_chain *c,
                        size_t first)
{
    s->depth = 0;
    bool good = c->rooted || vec_push(s->path, s->depth, s->path_capacity,
                                      frames_label(s->frames, FRAME_PARTIAL, "[partial]"));
    for (size_t i = c->count; good && i > first; i--) {
        const struct frame frame = frame_at(process, c->at[i - 1]);
        const uint32_t item = frames_add(s->frames, &frame);
        good = item != FRAMES_NONE && vec_push(s->path, s->depth, s->path_capacity, item);
    }
    return good;
}

/* The address of a function, or of a label that stands for several. false: out of memory. */
static bool find_address(struct script_chain *s, uint32_t item, uint64_t *out)
{
    bool added;
    uint64_t *number = table_put(s->numbers, item, &added);
    if (number && added && s->name_count < symbol_room_count(s->room)) {
        *number = s->name_count;
        if (!vec_push(s->names, s->name_count, s->name_capacity, frames_at(s->frames, item)->name))
            return false;
    }
    *out = number ? symbol_file_address(s->room, *number) : 0;
    return number;
}

int script_chain_join(struct script_chain *s, const struct process *process,
                      const struct script_frame *innermost, const struct address_chain *chain,
                      struct address_chain *out)
{
    const uint32_t *path;
    size_t count, first = 0;
    while (first < chain->count && chain->at[first] != (uint64_t)PERF_CONTEXT_USER)
        first++;
    if (first == chain->count) { /* the path is in the kernel only */
        *out = *chain;
        return 0;
    }
    first++;
    if (!list_frames(s, process, chain, first) ||
        script_frames_join(s->scripts, innermost, s->path, s->depth, &path, &count) < 0 ||
        !vec_reserve(s->joined, 0, s->joined_capacity, first + count))
        return -ENOMEM;
    memcpy(s->joined, chain->at, first * sizeof *s->joined);
    s->joined_count = first;
    while (count-- > 0) {
        const struct frame *frame = frames_at(s->frames, path[count]);
        uint64_t address = frame->address;
        if (frame->kind == FRAME_PARTIAL)
            continue;
        if (frame->kind != FRAME_FUNCTION && !find_address(s, path[count], &address))
            return -ENOMEM;
        s->joined[s->joined_count++] = address;
    }
    *out = (struct address_chain){s->joined, s->joined_count, chain->rooted};
    return 0;
}

size_t script_chain_names(const struct script_chain *s, const char *const **out)
{
    *out = s->names;
    return s->name_count;
}
