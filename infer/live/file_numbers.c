/* file_numbers.c - see file_numbers.h. */
#include "infer/live/file_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/stack_record.h"

#define OPENED_SLOTS 256u

/* Cache of files by the image that was opened: code is looked up in the same ones again and again. */
struct opened {
    const struct image *image;
    uint64_t adjust;
    uint32_t number;
};

struct file_numbers {
    struct names *paths;
    struct numbered_file *files; /* by number - 1 */
    size_t count, capacity;
    struct table *by_file;            /* hash -> number */
    struct opened last[OPENED_SLOTS]; /* by hash */
};

struct file_numbers *file_numbers_new(void)
{
    struct file_numbers *n = allocate(struct file_numbers, .paths = names_new(), .by_file = table_new());
    return whole_or_free(n, n->paths && n->by_file, file_numbers_free);
}

void file_numbers_free(struct file_numbers *n)
{
    if (!n)
        return;
    names_free(n->paths);
    free(n->files);
    table_free(n->by_file);
    free(n);
}

const struct numbered_file *file_numbers_at(const struct file_numbers *n, uint32_t number)
{
    return &n->files[number - 1];
}

uint64_t numbered_file_stamp(const struct numbered_file *file)
{
    struct build_id id;
    struct stat st;
    if (strcmp(file->path, VDSO_NAME) == 0)
        return 1;
    if (stat(file->path, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
        st.st_mode & (S_IWGRP | S_IWOTH) || build_id_read(file->path, &id, NULL) != 0 ||
        !build_id_equal(&id, &file->id))
        return 0;
    const uint64_t changed = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
    return hash_u64(hash_u64(changed + st.st_ino) + (uint64_t)st.st_size) | 2;
}

/* Whether two are the same, apart from the stamp. */
static bool is_same_file(const struct numbered_file *a, const struct numbered_file *b)
{
    return a->adjust == b->adjust && build_id_equal(&a->id, &b->id) && strcmp(a->path, b->path) == 0;
}

uint32_t file_numbers_put(struct file_numbers *n, const struct numbered_file *file)
{
    const uint32_t path = names_intern(n->paths, file->path);
    uint64_t hash = hash_u64(hash_u64(file->adjust + file->id.size) + path);
    struct numbered_file own = *file;
    bool added;
    own.path = names_text(n->paths, path);
    if (!own.path)
        return 0;
    for (size_t i = 0; i < file->id.size; i++)
        hash = hash_u64(hash + file->id.bytes[i]);
    uint64_t *number = table_put(n->by_file, hash, &added);
    if (!number)
        return 0;
    if (!added && is_same_file(&n->files[*number - 1], file))
        return (uint32_t)*number;
    if (!vec_push(n->files, n->count, n->capacity, own)) {
        if (added)
            table_remove(n->by_file, hash);
        return 0;
    }
    *number = n->count; /* two files with the same hash: finds the later one */
    return (uint32_t)*number;
}

/* 0: out of memory. */
static uint32_t number_of(struct file_numbers *n, const struct image *image, uint64_t adjust)
{
    struct opened *opened = &n->last[hash_u64((uintptr_t)image + adjust) % OPENED_SLOTS];
    if (opened->image != image || opened->adjust != adjust || opened->number == 0) {
        struct numbered_file file = {image_path(image), *image_build_id(image), adjust, 0};
        *opened = (struct opened){image, adjust, file_numbers_put(n, &file)};
        if (opened->number && !n->files[opened->number - 1].stamp)
            n->files[opened->number - 1].stamp = numbered_file_stamp(&file);
    }
    return opened->number;
}

/* Adds a place unless it is there. Returns the number of places; 0: it cannot be added. */
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
        /* Without a build-id, files of one path cannot be distinguished. */
        if (!mapping || !frame->place.image || !image_build_id(frame->place.image)->size)
            return 0;
        const uint64_t at = mapping->start - mapping->offset, load = frame->pc - frame->place.address;
        const uint32_t number = number_of(n, frame->place.image, at - load);
        if (!number)
            return -ENOMEM;
        /* A return address may be the first address after the mapping. */
        places = add_place(&(struct stack_place){mapping->start, mapping->end + 1, at, number}, out, places);
        if (places == 0)
            return 0;
    }
    return (int)places;
}
