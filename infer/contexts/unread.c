/* unread.c - see unread.h. */
#include "infer/contexts/unread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "infer/samples/starts.h"

#define MAX_NAMES 64u /* of files without readable code */

struct unread {
    struct image_cache *images;
    struct table *entered; /* image -> bool[] by function: can be entered from outside */
    struct table *noted;   /* process_state() of mappings already examined -> 1 */
    struct names *interned;
    const char *names[MAX_NAMES];
    size_t name_count;
};

struct unread *unread_new(struct image_cache *images)
{
    struct unread *u = allocate(struct unread, .images = images, .entered = table_new(), .noted = table_new(),
                                .interned = names_new());
    return whole_or_free(u, u->entered && u->noted && u->interned, unread_free);
}

void unread_free(struct unread *u)
{
    if (!u)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (u->entered && table_next(u->entered, &cursor, &key, &value))
        free((bool *)(uintptr_t)value);
    table_free(u->entered);
    table_free(u->noted);
    names_free(u->interned);
    free(u);
}

static int note_name(struct unread *u, const char *path)
{
    if (path[0] != '/' || strncmp(path, "//", 2) == 0)
        path = "code outside all files";
    uint32_t before = names_count(u->interned), number = names_intern(u->interned, path);
    if (number == NAMES_NONE)
        return -ENOMEM;
    if (number == before && u->name_count < MAX_NAMES)
        u->names[u->name_count++] = names_text(u->interned, number);
    return 0;
}

int unread_note(struct unread *u, const struct process *process)
{
    if (!process || !process_has_unread(process) || table_find(u->noted, process_state(process)))
        return 0;
    size_t at = 0;
    const struct mapping *mapping;
    while ((mapping = process_next_unread(process, &at))) {
        if (note_name(u, mapping->path) < 0)
            return -ENOMEM;
    }
    process_open_all(process);
    return table_put(u->noted, process_state(process), NULL) ? 0 : -ENOMEM;
}

/* Whether the image that calls main is among those opened. */
static bool main_is_called(const struct unread *u)
{
    struct image *image;
    for (size_t i = 0; (image = image_cache_at(u->images, i)); i++)
        if (image_exports(image, "__libc_start_main"))
            return true;
    return false;
}

/* *out: by function, whether code outside of the image can call it; NULL if unknown. 0 or -ENOMEM. */
static int find_entered(const struct unread *u, struct image_calls *of, const struct image *image, bool **out)
{
    const struct calls *calls;
    const uint32_t *mains = NULL;
    int rc = image_calls_of(of, image, &calls);
    *out = NULL;
    if (rc < 0 || !calls)
        return rc;
    uint32_t start = starts_program(image);
    size_t count = start != IMAGE_NO_FUNCTION && main_is_called(u) ? calls_taken_by(calls, start, &mains) : 0;
    return calls_entered(calls, mains, count, out);
}

int unread_concerns(struct unread *u, struct image_calls *calls, const struct place *place)
{
    bool *entered, added;
    if (!place->image || place->function == IMAGE_NO_FUNCTION)
        return 0;
    uint64_t *known = table_put(u->entered, (uintptr_t)place->image, &added);
    if (!known || (added && find_entered(u, calls, place->image, &entered) < 0))
        return -ENOMEM;
    if (added)
        *known = (uintptr_t)entered;
    return !*known || ((const bool *)(uintptr_t)*known)[place->function];
}

size_t unread_names(const struct unread *u, const char *const **out)
{
    *out = u->names;
    return u->name_count;
}
