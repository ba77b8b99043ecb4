/* file_numbers.c - see file_numbers.h. */
#include "infer/live/file_numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/stack_record.h"

struct file_code {
    const struct image *image;
    uint64_t adjust; /* its addresses - offsets in the file */
};

struct file_numbers {
    struct file_code *files; /* by number - 1 */
    size_t count, capacity;
    struct table *first; /* hash -> number */
};

struct file_numbers *file_numbers_new(void)
{
    struct file_numbers *n = calloc(1, sizeof *n);
    if (n && !(n->first = table_new())) {
        free(n);
        n = NULL;
    }
    return n;
}

void file_numbers_free(struct file_numbers *n)
{
    if (!n)
        return;
    free(n->files);
    table_free(n->first);
    free(n);
}

/* 0: out of memory. */
static uint32_t number_of(struct file_numbers *n, const struct file_code *file)
{
    const uint64_t hash = hash_u64((uintptr_t)file->image) + file->adjust;
    bool added;
    uint64_t *number = table_put(n->first, hash, &added);
    if (!number)
        return 0;
    if (!added && n->files[*number - 1].image == file->image && n->files[*number - 1].adjust == file->adjust)
        return (uint32_t)*number;
    if (!vec_push(n->files, n->count, n->capacity, *file)) {
        if (added)
            table_remove(n->first, hash);
        return 0;
    }
    *number = n->count; /* of two with one hash, the later one */
    return (uint32_t)*number;
}

/* Adds a place, unless it is there. Returns how many there are; 0: it cannot be. */
static size_t add_place(const struct stack_place *place, struct stack_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (places[i].number != place->number)
            continue;
        if (places[i].at != place->at)
            return 0;
        if (places[i].start == place->start)
            return count;
    }
    if (count == STACK_PLACED_MAX)
        return 0;
    places[count] = *place;
    return count + 1;
}

int file_numbers_places(struct file_numbers *n, const struct process *process,
                        const struct unwind_frame *frames, size_t count, struct stack_place *out)
{
    size_t places = 0;
    for (size_t i = 0; i < count; i++) {
        const struct unwind_frame *frame = &frames[i];
        const struct mapping *mapping = process_mapping(process, frame->pc - (i > 0 && !frame->interrupted));
        /* Files of one path are told apart by what they are built of alone. */
        if (!mapping || !frame->place.image || !image_build_id(frame->place.image)->size)
            return 0;
        const uint64_t at = mapping->start - mapping->offset, load = frame->pc - frame->place.address;
        const uint32_t number = number_of(n, &(struct file_code){frame->place.image, at - load});
        if (!number)
            return -ENOMEM;
        /* A return address may be the first one behind the mapping. */
        places = add_place(&(struct stack_place){mapping->start, mapping->end + 1, at, number}, out, places);
        if (places == 0)
            return 0;
    }
    return (int)places;
}
