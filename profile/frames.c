/*
 * frames.c - interns frames by their contents; see frames.h.
 *
 * frames_function() is called once for every frame of every context, so its results are cached by the image's
 * pointer and the function's index, and the name is built only once.
 */
#include "profile/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/name.h"
#include "image/run_time.h"

struct entry {
    struct frame frame;
    uint32_t same; /* next item with the same hash, + 1; 0 at the end */
};

struct frames {
    struct arena *arena;
    struct names *texts;     /* all strings of all frames */
    struct table *by_words;  /* hash of the contents -> newest item with that hash + 1 */
    struct table *images;    /* address of a struct image -> its number + 1 */
    struct table *functions; /* image's number << 32 | function -> item + 1 */
    struct entry **items;    /* by item; entries in the arena */
    uint32_t count, capacity;
    struct table *named; /* number of a file's name in `texts` -> struct frame_image */
    char *scratch;       /* a name being formatted */
    size_t scratch_size;
};

struct frames *frames_new(void)
{
    struct frames *frames =
        allocate(struct frames, .arena = arena_new(0), .texts = names_new(), .by_words = table_new(),
                 .images = table_new(), .functions = table_new(), .named = table_new());
    return whole_or_free(frames,
                         frames->named && frames->arena && frames->texts && frames->by_words &&
                             frames->images && frames->functions,
                         frames_free);
}

void frames_free(struct frames *frames)
{
    if (!frames)
        return;
    arena_free(frames->arena);
    names_free(frames->texts);
    table_free(frames->by_words);
    table_free(frames->images);
    table_free(frames->functions);
    table_free(frames->named);
    free(frames->items);
    free(frames->scratch);
    free(frames);
}

/* The table's own copy of a text, safe for a terminal. NULL: out of memory. */
static const char *frames_text(struct frames *frames, const char *text)
{
    char *clean = strdup(text);
    if (!clean)
        return NULL;
    text_clean(clean);
    const char *interned = names_text(frames->texts, names_intern(frames->texts, clean));
    free(clean);
    return interned;
}

/* Texts are interned, so equal frames have equal pointers. */
static bool frame_equal(const struct frame *a, const struct frame *b)
{
    return a->kind == b->kind && a->name == b->name && a->image == b->image && a->address == b->address &&
           a->source == b->source && a->language == b->language;
}

static uint64_t frame_hash(const struct frame *frame)
{
    uint64_t words[] = {frame->kind | (uint64_t)frame->language << 32, (uintptr_t)frame->name,
                        (uintptr_t)frame->image, frame->address, (uintptr_t)frame->source};
    return checksum_of(words, sizeof words);
}

uint32_t frames_add(struct frames *frames, const struct frame *wanted)
{
    struct frame frame = *wanted;
    frame.name = frames_text(frames, wanted->name ? wanted->name : "");
    frame.image = frames_text(frames, wanted->image ? wanted->image : "");
    if (wanted->source)
        frame.source = frames_text(frames, wanted->source);
    if (!frame.name || !frame.image || (wanted->source && !frame.source))
        return FRAMES_NONE;

    uint64_t hash = frame_hash(&frame);
    uint64_t *head = table_find(frames->by_words, hash);
    for (uint32_t i = head ? (uint32_t)*head : 0; i; i = frames->items[i - 1]->same) {
        if (frame_equal(&frames->items[i - 1]->frame, &frame))
            return i - 1;
    }
    if (!vec_reserve(frames->items, frames->count, frames->capacity, 1))
        return FRAMES_NONE;
    struct entry *entry = arena_alloc(frames->arena, sizeof *entry);
    head = entry ? table_put(frames->by_words, hash, NULL) : NULL;
    if (!head)
        return FRAMES_NONE;
    *entry = (struct entry){frame, (uint32_t)*head};
    frames->items[frames->count] = entry;
    *head = ++frames->count;
    return frames->count - 1;
}

/* Formats the name of a function in frames->scratch. */
static bool frames_format(struct frames *frames, const char *path, const char *symbol, uint64_t address)
{
    if (!vec_reserve(frames->scratch, 0, frames->scratch_size, 256))
        return false;
    int wanted = name_format(path, symbol, address, frames->scratch, frames->scratch_size);
    if (wanted < 0)
        return false;
    if ((size_t)wanted < frames->scratch_size)
        return true;
    if (!vec_reserve(frames->scratch, 0, frames->scratch_size, (size_t)wanted + 1))
        return false;
    name_format(path, symbol, address, frames->scratch, frames->scratch_size);
    return true;
}

/* Stores what is known of an image, under its file's name. */
static bool note_image(struct frames *frames, const struct image *image)
{
    const char *name = frames_text(frames, image_name(image)), *path = frames_text(frames, image_path(image));
    uint64_t *place = name && path ? table_put(frames->named, (uintptr_t)name, NULL) : NULL;
    if (place && !*place) {
        struct frame_image *known = arena_alloc(frames->arena, sizeof *known);
        if (!known)
            return false;
        *known = (struct frame_image){path, *image_build_id(image)};
        *place = (uintptr_t)known;
    }
    return place;
}

const struct frame_image *frames_image(const struct frames *frames, const char *name)
{
    const uint64_t *place = table_find(frames->named, (uintptr_t)name);
    return place ? (const struct frame_image *)(uintptr_t)*place : NULL;
}

uint32_t frames_function(struct frames *frames, const struct image *image, uint32_t function)
{
    uint64_t *number = table_put(frames->images, (uintptr_t)image, NULL);
    if (!number)
        return FRAMES_NONE;
    if (*number == 0) {
        *number = table_count(frames->images);
        if (!note_image(frames, image))
            return FRAMES_NONE;
    }
    uint64_t key = *number << 32 | function;
    const uint64_t *known = table_find(frames->functions, key);
    if (known)
        return (uint32_t)(*known - 1);

    const struct image_function *owner = image_function(image, image_function(image, function)->owner);
    uint32_t item = frames_symbol(frames, image_name(image), owner->name, owner->address);
    if (item == FRAMES_NONE || !table_set(frames->functions, key, (uint64_t)item + 1))
        return FRAMES_NONE;
    return item;
}

uint32_t frames_symbol(struct frames *frames, const char *path, const char *symbol, uint64_t address)
{
    if (strcmp(path, RUN_TIME_NAME) == 0 &&
        (!symbol || strcmp(symbol, path) == 0)) /* no file's name, and no symbol */
        return frames_label(frames, FRAME_LABEL, path);
    return frames_format(frames, path, symbol, address)
               ? frames_named(frames, frames->scratch, path_base(path), address)
               : FRAMES_NONE;
}

uint32_t frames_named(struct frames *frames, const char *name, const char *image, uint64_t address)
{
    return frames_add(frames, &(struct frame){FRAME_FUNCTION, name, image, address, NULL, 0});
}

uint32_t frames_label(struct frames *frames, enum frame_kind kind, const char *text)
{
    return frames_add(frames, &(struct frame){kind, text, "", 0, NULL, 0});
}

const struct frame *frames_at(const struct frames *frames, uint32_t item)
{
    return item < frames->count ? &frames->items[item]->frame : NULL;
}

uint32_t frames_count(const struct frames *frames)
{
    return frames->count;
}

bool frame_is_function(const struct frame *frame)
{
    return frame->kind == FRAME_FUNCTION || frame->kind == FRAME_INLINED || frame->kind == FRAME_SCRIPT;
}

bool frame_has_name(const struct frame *frame)
{
    const char *plus = strrchr(frame->name, '+');
    return !plus || strncmp(plus, "+0x", 3) != 0 ||
           strncmp(frame->name, frame->image, (size_t)(plus - frame->name)) != 0;
}

bool frame_is_unknown(const struct frame *frame)
{
    return frame->kind == FRAME_UNKNOWN_CONTEXT || frame->kind == FRAME_UNSURE ||
           frame->kind == FRAME_PARTIAL;
}
