/*
 * open.c - opens an .fmap file: every reachable byte is covered by a checksum, which is verified here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "pathmap/map/map_data.h"

struct opening {
    const uint8_t *data;
    size_t size;
    const char *path; /* for messages */
    struct fmap_section sections[FMAP_KINDS];
    struct fathom_error *err;
};

static int damaged_map(const struct opening *o, const char *what)
{
    return error_set(o->err, EBADMSG, "%s is damaged (%s): train it again, or take it from a backup", o->path,
                     what);
}

static int header_check(const struct opening *o, struct fmap_header *header)
{
    size_t there = o->size < sizeof header->magic ? o->size : sizeof header->magic;
    if (there && memcmp(o->data, FMAP_MAGIC, there) != 0)
        return error_set(o->err, ENOMSG, "%s is not a path map (.fmap file)", o->path);
    if (o->size < sizeof *header)
        return error_set(o->err, EBADMSG, "%s is cut: it ends in its header", o->path);
    memcpy(header, o->data, sizeof *header);
    if (header->version > FMAP_VERSION)
        return error_set(o->err, ENOTSUP,
                         "%s has version %u of the path map format, this fathom reads up to %u", o->path,
                         header->version, FMAP_VERSION);
    if (header->size > o->size)
        return error_set(o->err, EBADMSG, "%s is cut: %zu of %llu bytes are there", o->path, o->size,
                         (unsigned long long)header->size);
    if (header->version == 0 || header->size < o->size || header->sections > FMAP_MAX_SECTIONS)
        return damaged_map(o, "its header makes no sense");
    size_t covered = sizeof *header + header->sections * sizeof(struct fmap_section);
    uint64_t checksum;
    if (covered + sizeof checksum > o->size)
        return damaged_map(o, "its section table does not fit");
    memcpy(&checksum, o->data + covered, sizeof checksum);
    if (checksum != checksum_of(o->data, covered))
        return damaged_map(o, "wrong checksum of the header");
    return 0;
}

static int sections_check(struct opening *o, const struct fmap_header *header)
{
    for (uint32_t i = 0; i < header->sections; i++) {
        struct fmap_section s;
        memcpy(&s, o->data + sizeof *header + i * sizeof s, sizeof s);
        if (s.offset > o->size || s.length > o->size - s.offset || s.offset % FMAP_ALIGNMENT)
            return damaged_map(o, "a section does not fit");
        if (s.kind == 0 || s.kind >= FMAP_KINDS)
            continue;
        if (o->sections[s.kind].kind)
            return damaged_map(o, "a section is there twice");
        o->sections[s.kind] = s;
    }
    for (uint32_t kind = 1; kind < FMAP_KINDS; kind++) {
        if (!o->sections[kind].kind && kind != FMAP_PCS && kind != FMAP_TRIALS)
            return damaged_map(o, "a section is missing");
    }
    int rc = fmap_verify(o->data, o->sections + 1, FMAP_KINDS - 1); /* a missing one is empty */
    if (rc == -EBADMSG)
        return damaged_map(o, "wrong checksum of a section");
    return rc < 0 ? error_memory(o->err) : 0;
}

/* Returns the section's data and sets *count to its number of elements. NULL: the length is not a whole
 * number of elements, or there are so many that one would be numbered FMAP_NONE. */
static const void *section_array(const struct opening *o, enum fmap_kind kind, size_t element,
                                 uint32_t *count)
{
    const struct fmap_section *s = &o->sections[kind];
    if (s->length % element || s->length / element >= FMAP_NONE)
        return NULL;
    *count = (uint32_t)(s->length / element);
    return o->data + s->offset;
}

static bool paths_below(const uint32_t *paths, uint32_t count, uint32_t limit)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = paths[i] > largest ? paths[i] : largest;
    return !count || largest < limit;
}

/* false: the section is invalid. */
static bool trials_use(const struct opening *o, struct trials *trials)
{
    uint32_t count;
    const struct fmap_trial *from = section_array(o, FMAP_TRIALS, sizeof *from, &count);
    if (!from || count > TRIALS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct fmap_trial *t = &from[i];
        if (!t->samples || t->known > t->samples || t->right > t->known || t->wrong > t->known - t->right ||
            t->said > t->known || t->part < TRIAL_SLICE || t->part >= TRIAL_PARTS)
            return false;
        trials->at[trials->count++] =
            (struct trial){t->samples, t->known, t->right, t->wrong, t->said, (enum trial_part)t->part};
    }
    return true;
}

static int sections_use(const struct opening *o, struct pathmap *map)
{
    uint32_t firsts = 0, paths = 0, statistics = 0;
    map->images = section_array(o, FMAP_IMAGES, sizeof *map->images, &map->image_count);
    map->functions = section_array(o, FMAP_FUNCTIONS, sizeof *map->functions, &map->function_count);
    map->function_nodes = section_array(o, FMAP_FUNCTION_NODES, sizeof *map->function_nodes, &firsts);
    map->nodes = section_array(o, FMAP_NODES, sizeof *map->nodes, &map->node_count);
    map->paths = section_array(o, FMAP_PATHS, sizeof *map->paths, &paths);
    map->index = section_array(o, FMAP_INDEX, sizeof *map->index, &map->index_entries);
    const struct fmap_statistics *s = section_array(o, FMAP_STATISTICS, sizeof *s, &statistics);
    if (!map->images || !map->functions || !map->function_nodes || !map->nodes || !map->paths ||
        !map->index || !s || !map->index_entries || firsts != map->function_count + 1 ||
        paths != map->node_count || statistics != 1)
        return damaged_map(o, "its sections do not fit together");

    map->pcs = section_array(o, FMAP_PCS, sizeof *map->pcs, &map->pc_count);
    if (!map->pcs)
        return damaged_map(o, "its PCs do not fit");

    map->strings = (const char *)o->data + o->sections[FMAP_STRINGS].offset;
    map->strings_size = o->sections[FMAP_STRINGS].length;
    if (!map->strings_size || map->strings[map->strings_size - 1])
        return damaged_map(o, "its strings do not end");

    if (!trials_use(o, &map->trials))
        return damaged_map(o, "its trials make no sense");

    map->statistics = (struct trie_statistics){s->paths_entered, s->paths_cut, s->paths_failed};
    map->path_count = s->function_paths;
    if (map->path_count > map->node_count || !paths_below(map->paths, map->node_count, map->path_count))
        return damaged_map(o, "its function paths are wrongly numbered");
    return 0;
}

static int map_parse(struct pathmap *map, const void *data, size_t size, const char *path,
                     struct fathom_error *err)
{
    struct opening o = {.data = data, .size = size, .path = path, .err = err};
    struct fmap_header header;
    int rc = header_check(&o, &header);
    if (rc == 0)
        rc = sections_check(&o, &header);
    if (rc == 0)
        rc = sections_use(&o, map);
    if (rc == 0)
        map->version = header.version;
    return rc;
}

int pathmap_open(const char *path, struct pathmap **out, struct fathom_error *err)
{
    struct pathmap *map = calloc(1, sizeof *map);
    if (!map)
        return error_memory(err);
    int rc = file_view_read(path, &map->view, err);
    if (rc == 0)
        rc = map_parse(map, map->view.data, map->view.size, path, err);
    if (rc < 0)
        pathmap_close(map);
    else
        *out = map;
    return rc;
}

int pathmap_open_memory(void *data, size_t size, struct pathmap **out, struct fathom_error *err)
{
    struct pathmap *map = calloc(1, sizeof *map);
    if (!map) {
        free(data);
        return error_memory(err);
    }
    map->memory = data;
    int rc = map_parse(map, data, size, "the path map in memory", err);
    if (rc < 0)
        pathmap_close(map);
    else
        *out = map;
    return rc;
}

void pathmap_close(struct pathmap *map)
{
    if (!map)
        return;
    file_view_close(&map->view);
    order_clear(&map->order);
    free(map->memory);
    free(map);
}
