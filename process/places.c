/*
 * places.c - finds what is at an address of a process: its mapping, image, function and CFI, and which mappings' code cannot be
 * read; see process.h. Images are opened when a sample first hits them.
 */
#include <stdlib.h>
#include <string.h>

#include "image/made/code_names.h"
#include "image/mapped_name.h"
#include "image/run_time.h"
#include "process/process_data.h"

/* Whether the path names a file or the vDSO, which has an image too. */
static bool process_is_file(const char *path)
{
    return mapped_kind(path) == MAPPED_FILE || strcmp(path, VDSO_NAME) == 0;
}

/* Asks the cache for a region's image, or if image is NULL only whether it has one. A file that was replaced while it ran may
 * exist again in the same build, or as a saved copy: it is looked up by its original path. */
static int process_request_image(struct processes *all, const struct region *region, struct image **image,
                                 struct fathom_error *err)
{
    const char *path = region->mapping.path;
    char *bare = NULL;
    if (region->build_id.size && mapped_is_gone(path)) {
        bare = strndup(path, mapped_path_length(path));
        if (!bare)
            return error_memory(err);
        path = bare;
    }
    int rc = image ? image_cache_get(all->images, path, &region->build_id, image, err)
                   : image_cache_check(all->images, path, &region->build_id, err);
    free(bare);
    return rc;
}

/* Whether a file may be behind the mapping. For files that never had a path, only a build-id identifies them.
 */
static bool process_may_open(const struct region *region)
{
    if (mapped_is_jitdump(region->mapping.path))
        return false;
    return process_is_file(region->mapping.path) || (region->build_id.size && region->mapping.path[0] == '/');
}

#define UNREAD_WARNED 10 /* the last warning says that there are more */

/* Warns once for each path whose code cannot be read. */
static void process_warn_unread(struct processes *all, const char *path, const struct fathom_error *why)
{
    if (!image_cache_first_failure(all->images, path, why))
        return;
    if (++all->warned_unread < UNREAD_WARNED)
        log_write(all->log, LOG_WARNING,
                  "%s; samples in it, or in code that it may have called, are unknown%s", why->text,
                  mapped_is_not_found(path) ? "" : " until the recorded build is at that path");
    else if (all->warned_unread == UNREAD_WARNED)
        log_write(all->log, LOG_WARNING, "more files cannot be read: likewise");
}

static void process_open_image(struct processes *all, struct region *region)
{
    struct mapping *mapping = &region->mapping;
    region->opened = true;
    if (!process_may_open(region))
        return;
    struct fathom_error err = {0};
    struct image *image = NULL;
    if (process_request_image(all, region, &image, &err) == 0)
        mapping->image = image;
    else
        process_warn_unread(all, mapping->path, &err);
}

/* Jitdumps, memory created by the kernel, and stacks and heaps that are executable only for a few trampolines call nothing. */
static bool process_is_silent(const char *path)
{
    return (path[0] == '[' && strncmp(path, "[anon", 5) != 0) || mapped_is_jitdump(path);
}

/* Whether the region's code cannot be read. Checks the file's headers if it was not opened. */
static bool process_region_unread(struct processes *all, struct region *region)
{
    if (process_is_silent(region->mapping.path))
        return false;
    if (region->opened)
        return !region->mapping.image || image_is_run_time(region->mapping.image);
    if (region->checked)
        return region->unread;
    region->checked = region->unread = true;
    if (!process_may_open(region))
        return true;
    struct fathom_error err = {0};
    region->unread = process_request_image(all, region, NULL, &err) < 0;
    if (region->unread)
        process_warn_unread(all, region->mapping.path, &err);
    return region->unread;
}

/* Whether the process has a runtime that is known to make code in such memory (image/run_time.h). Files that cannot be opened
 * are reported when a sample hits them. */
static bool process_makes_code(const struct process *process)
{
    for (size_t i = 0; i < space_count(process->space); i++) {
        const struct region *region = space_at(process->space, i);
        struct image *image = region->mapping.image;
        if (!region->opened && process_may_open(region) &&
            process_request_image(process->all, region, &image, NULL) < 0)
            continue;
        if (image && image_makes_code(image))
            return true;
    }
    return false;
}

static void process_open_made(const struct process *process, struct region *region)
{
    struct image *image;
    if (mapped_is_run_time(region->mapping.path) &&
        (process_code_set(process) || process_makes_code(process)) &&
        image_cache_get(process->all->images, RUN_TIME_NAME, NULL, &image, NULL) == 0)
        region->mapping.image = image;
}

static struct region *process_region(const struct process *process, uint64_t pc)
{
    struct space *space = process->space;
    size_t i = process->last;
    if (i >= space_count(space) || pc < space_at(space, i)->mapping.start ||
        pc >= space_at(space, i)->mapping.end) {
        i = space_find(space, pc);
        if (i == SPACE_NONE)
            return NULL;
        /* The hint and the opened images are not part of the logical state. */
        ((struct process *)process)->last = i;
    }
    struct region *region = space_at(space, i);
    const bool first = !region->opened;
    if (first || (!region->mapping.image && image_cache_options(process->all->images)->live))
        process_open_image(process->all, region);
    if (first && !region->mapping.image)
        process_open_made(process, region);
    if (first && !region->mapping.image)
        ((struct process *)process)->unread_state = 0; /* its headers may have looked readable */
    return region;
}

/* The address of code made at run time, in its image. */
static uint64_t process_made_address(const struct process *process, uint64_t pc)
{
    const struct code_set *set = process_code_set(process);
    const uint64_t address = set ? code_set_address(set, pc, process->time) : 0;
    return address ? address : RUN_TIME_ADDRESS;
}

const struct mapping *process_next_unread(const struct process *process, size_t *at)
{
    struct space *space = process->space;
    while (*at < space_count(space)) {
        struct region *region = space_at(space, (*at)++);
        if (process_region_unread(process->all, region))
            return &region->mapping;
    }
    return NULL;
}

bool process_has_unread(const struct process *process)
{
    if (process->unread_state == process->state)
        return process->unread;
    struct process *known = (struct process *)process; /* caches are not part of the logical state */
    size_t at = 0;
    known->unread_state = process->state;
    known->unread = process_next_unread(process, &at) != NULL;
    return known->unread;
}

void process_open_all(const struct process *process)
{
    for (size_t i = 0; i < space_count(process->space); i++)
        process_region(process, space_at(process->space, i)->mapping.start);
}

const struct mapping *process_mapping(const struct process *process, uint64_t pc)
{
    struct region *region = process_region(process, pc);
    return region ? &region->mapping : NULL;
}

bool process_place(const struct process *process, uint64_t pc, struct place *out)
{
    const struct region *region = process_region(process, pc);
    if (!region || !region->mapping.image)
        return false;
    const struct mapping *mapping = &region->mapping;
    uint64_t offset, address;
    if (image_is_run_time(mapping->image))
        address = process_made_address(process, pc);
    else if (__builtin_add_overflow(mapping->offset, pc - mapping->start, &offset) ||
             !image_address(mapping->image, offset, &address))
        return false;
    *out = (struct place){mapping->image, address, image_function_at(mapping->image, address)};
    return true;
}

bool process_cfi(const struct process *process, uint64_t pc, struct place *place, struct cfi_row *row)
{
    struct code_entry *entry = code_cache_at(&process->all->code, pc);
    if (!code_entry_holds(entry, pc, process->state)) {
        struct place found;
        if (!process_place(process, pc, &found))
            return false;
        *entry = (struct code_entry){
            .pc = pc,
            .state = process->state,
            .place = found,
            .row = cfi_lookup(image_cfi(found.image), found.address),
        };
    }
    *place = entry->place;
    *row = entry->row;
    return true;
}
