/* build_ids.c - see build_ids.h; the format: tools/perf/util/build-id.c, perf_event.h's build_id event. */
#include "perfdata/build_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/vec.h"
#include "perfdata/layout.h"

#define ENTRY_SIZE   28 /* pid, 20 bytes of build-id, its size, 3 of padding; then the path */
#define DEFAULT_SIZE 20 /* of a build-id whose size is not recorded */

/* A path with two builds in one recording has none for its mappings. */
static int add_build_id(struct build_ids *ids, const char *path, const struct build_id_entry *entry)
{
    if (!ids->paths && !(ids->paths = names_new()))
        return -ENOMEM;
    if (!ids->by_path && !(ids->by_path = table_new()))
        return -ENOMEM;
    uint32_t number = names_intern(ids->paths, path);
    uint64_t *slot =
        number == NAMES_NONE ? NULL : table_put(ids->by_path, checksum_of(path, strlen(path)), NULL);
    if (!slot)
        return -ENOMEM;
    *slot = number + 1;
    if (number < ids->count) {
        struct build_id_entry *known = &ids->entries[number];
        if (known->size != entry->size || memcmp(known->id, entry->id, sizeof known->id) != 0)
            known->size = 0;
        return 0;
    }
    return vec_push(ids->entries, ids->count, ids->capacity, *entry) ? 0 : -ENOMEM;
}

/* Stock perf lists the kernel under this name; the name of its mapping has a symbol's name appended. */
static const char kernel_path[] = "[kernel.kallsyms]";

int build_ids_take(struct build_ids *ids, uint16_t misc, struct bytes body)
{
    const uint8_t *head = bytes_take(&body, ENTRY_SIZE);
    const char *path = bytes_string(&body);
    if (!head || !path || (path[0] != '/' && strcmp(path, kernel_path) != 0))
        return 0;
    struct build_id_entry entry = {.size = misc & MISC_BUILD_ID_SIZE ? head[24] : DEFAULT_SIZE};
    if (entry.size == 0 || entry.size > sizeof entry.id)
        return 0;
    memcpy(entry.id, head + 4, entry.size);
    return add_build_id(ids, path, &entry);
}

int build_ids_take_all(struct build_ids *ids, struct bytes section)
{
    int rc = 0;
    while (rc == 0 && bytes_left(&section) >= RECORD_HEADER_SIZE) {
        size_t size = load_u16(section.at + 6);
        uint16_t misc = load_u16(section.at + 4);
        const uint8_t *entry = size < RECORD_HEADER_SIZE ? NULL : bytes_take(&section, size);
        if (!entry)
            break;
        rc = build_ids_take(ids, misc, bytes_of(entry + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE));
    }
    return rc;
}

void build_ids_free(struct build_ids *ids)
{
    names_free(ids->paths);
    table_free(ids->by_path);
    free(ids->entries);
    *ids = (struct build_ids){0};
}

void build_ids_fill(const struct build_ids *ids, struct record_mmap *mmap)
{
    if (!ids->by_path || mmap->build_id_size || !mmap->path)
        return;
    bool kernel = strncmp(mmap->path, kernel_path, sizeof kernel_path - 1) == 0;
    const char *path = kernel ? kernel_path : mmap->path;
    const uint64_t *slot = table_find(ids->by_path, checksum_of(path, strlen(path)));
    if (!slot || strcmp(names_text(ids->paths, (uint32_t)*slot - 1), path) != 0)
        return;
    const struct build_id_entry *entry = &ids->entries[*slot - 1];
    mmap->build_id_size = entry->size;
    memcpy(mmap->build_id, entry->id, entry->size);
}
