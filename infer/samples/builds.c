/* builds.c - see builds.h. */
#include "infer/samples/builds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "image/mapped_name.h"
#include "image/name.h"
#include "process/process.h"

struct builds {
    const struct pathmap *map;
    const struct log *log;
    struct names *seen; /* "BUILD-ID PATH" */
    bool stale;
    /* among the noted images: the map has some of them (or another build); it lacks some */
    bool known, unknown;
    bool program_known, program_unknown; /* the same for programs */
    bool has_program;                    /* the map has one */
};

struct builds *builds_new(const struct pathmap *map, const struct log *log)
{
    struct builds *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct builds){.map = map, .log = log, .seen = names_new()};
    if (!b->seen) {
        free(b);
        return NULL;
    }
    for (uint32_t i = 0; i < pathmap_image_count(map); i++)
        b->has_program |= mapped_is_program(pathmap_image(map, i).path);
    return b;
}

void builds_free(struct builds *b)
{
    if (!b)
        return;
    names_free(b->seen);
    free(b);
}

int builds_note(struct builds *b, const char *path, const struct build_id *id)
{
    char hex[2 * BUILD_ID_MAX + 1], *key;
    if (!id->size || path[0] != '/' || path[1] == '/') /* "//anon" */
        return 0;
    build_id_format(id, hex);
    if (asprintf(&key, "%s %s", hex, path) < 0)
        return -ENOMEM;
    uint32_t before = names_count(b->seen), number = names_intern(b->seen, key);
    free(key);
    if (number == NAMES_NONE)
        return -ENOMEM;
    if (number < before)
        return 0;
    bool stale = false, found = pathmap_find_image(b->map, path, id, &stale) != PATHMAP_NONE;
    bool known = found || stale;
    if (!name_is_c_library(path)) {
        b->known |= known;
        b->unknown |= !known;
    }
    if (mapped_is_program(path)) {
        b->program_known |= known;
        b->program_unknown |= !known;
    }
    if (!found && stale) {
        b->stale = true;
        log_write(b->log, LOG_WARNING,
                  "the map was trained with another build of %s, whose data is not used; train it again",
                  path);
    }
    return 0;
}

int builds_note_mapped(struct builds *b, const struct record *record)
{
    if (record->kind != RECORD_MMAP || !record->mmap.executable)
        return 0;
    const struct build_id id = process_build_id(&record->mmap);
    return builds_note(b, record->mmap.path, &id);
}

bool builds_stale(const struct builds *b)
{
    return b->stale;
}

bool builds_foreign(const struct builds *b)
{
    return (b->unknown && !b->known) || (b->has_program && b->program_unknown && !b->program_known);
}
