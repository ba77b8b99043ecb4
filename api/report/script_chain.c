/* script_chain.c - see script_chain.h. */
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

static const struct symbol_room room = {0x3000, 0xd000};
#define OTHERS "[script function]" /* name 0: functions that there is no room for */

struct script_chain {
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

struct script_chain *script_chain_new(void)
{
    struct script_chain *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
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

/* As what scripts are joined by (script_frames.c): an interpreter's loop, or its core, which is any function without a name, has its name, and code that was made at
 * run time its image, with the name that a map has for it; "": it is another function. */
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

/* The frames of the addresses behind PERF_CONTEXT_USER. false: out of memory. */
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

/* Of a function, or of what stands for some. false: out of memory. */
static bool find_address(struct script_chain *s, uint32_t item, uint64_t *out)
{
    bool added;
    uint64_t *number = table_put(s->numbers, item, &added);
    if (number && added && s->name_count < symbol_room_count(&room)) {
        *number = s->name_count;
        if (!vec_push(s->names, s->name_count, s->name_capacity, frames_at(s->frames, item)->name))
            return false;
    }
    *out = number ? symbol_file_address(&room, *number) : 0;
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
    if (first == chain->count) { /* a path in the kernel alone */
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

int script_chain_write(const struct script_chain *s, const char *path, struct fathom_error *err)
{
    return symbol_file_write(path, s->names, s->name_count, err);
}

struct record script_chain_mapping(const char *path, uint32_t pid, uint64_t time)
{
    return symbol_file_mapping(&room, path, pid, time);
}
