/* dictionary.c - see dictionary.h. */
#include "store/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "store/batch.h"

struct dictionary {
    struct arena *texts;
    struct table *frame_numbers, *context_numbers; /* hash -> number + 1 */
    struct dictionary_frame *frames;
    struct dictionary_context *contexts;
    uint32_t frame_count, frame_capacity, context_count, context_capacity;
};

struct dictionary *dictionary_new(void)
{
    struct dictionary *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->texts = arena_new(0);
    d->frame_numbers = table_new();
    d->context_numbers = table_new();
    if (d->texts && d->frame_numbers && d->context_numbers)
        return d;
    dictionary_free(d);
    return NULL;
}

void dictionary_free(struct dictionary *d)
{
    if (!d)
        return;
    arena_free(d->texts);
    table_free(d->frame_numbers);
    table_free(d->context_numbers);
    free(d->frames);
    free(d->contexts);
    free(d);
}

static char *copy_name(struct dictionary *d, const char *name)
{
    const size_t length = strnlen(name, STORE_FRAME_MOST);
    char *copy = arena_alloc(d->texts, length + 1);
    if (copy) {
        memcpy(copy, name, length);
        copy[length] = '\0';
    }
    return copy;
}

static void add_name(struct checksum *sum, const char *name)
{
    checksum_add(sum, name, strnlen(name, STORE_FRAME_MOST));
    checksum_add(sum, "", 1);
}

/* Of the bytes "KIND" "image\0" "name\0". 0: out of memory. */
static uint64_t hash_frame(uint8_t kind, const char *image, const char *name)
{
    struct checksum *sum = checksum_begin();
    if (!sum)
        return 0;
    checksum_add(sum, &kind, 1);
    add_name(sum, image);
    add_name(sum, name);
    return checksum_end(sum);
}

uint32_t dictionary_frame(struct dictionary *d, uint8_t kind, const char *image, const char *name)
{
    struct dictionary_frame frame = {.hash = hash_frame(kind, image, name), .kind = kind};
    uint64_t *number = frame.hash ? table_put(d->frame_numbers, frame.hash, NULL) : NULL;
    if (!number)
        return DICTIONARY_NONE;
    if (*number)
        return (uint32_t)(*number - 1);
    frame.image = copy_name(d, image);
    frame.name = copy_name(d, name);
    if (!frame.image || !frame.name || !vec_push(d->frames, d->frame_count, d->frame_capacity, frame))
        return DICTIONARY_NONE;
    *number = d->frame_count;
    return d->frame_count - 1;
}

uint32_t dictionary_context(struct dictionary *d, uint32_t caller, uint32_t frame)
{
    uint64_t of[2] = {caller == DICTIONARY_NONE ? 0 : d->contexts[caller].hash, d->frames[frame].hash};
    const uint64_t hash = checksum_of(of, sizeof of) & ~UINT64_C(3); /* 0 would be no caller */
    struct dictionary_context context = {.hash = hash ? hash : 4, .caller = caller, .frame = frame};
    uint64_t *number = table_put(d->context_numbers, context.hash, NULL);
    if (!number)
        return DICTIONARY_NONE;
    if (!*number) {
        if (!vec_push(d->contexts, d->context_count, d->context_capacity, context))
            return DICTIONARY_NONE;
        *number = d->context_count;
    }
    return (uint32_t)(*number - 1);
}

size_t dictionary_frames(const struct dictionary *d, const struct dictionary_frame **out)
{
    *out = d->frames;
    return d->frame_count;
}

size_t dictionary_contexts(const struct dictionary *d, const struct dictionary_context **out)
{
    *out = d->contexts;
    return d->context_count;
}
