/* access.c - see access.h. */
#include "profile/access.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/path.h"
#include "image/name.h"
#include "image/objects.h"

struct accesses {
    struct table *objects; /* image -> struct objects */
};

static enum access_source by_number(unsigned number)
{
    switch (number) {
    case PERF_MEM_LVLNUM_L1:
        return ACCESS_L1;
    case PERF_MEM_LVLNUM_LFB:
        return ACCESS_LFB;
    case PERF_MEM_LVLNUM_L2:
        return ACCESS_L2;
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_L4:
        return ACCESS_L3;
    case PERF_MEM_LVLNUM_CXL:
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
        return ACCESS_RAM;
    default:
        return ACCESS_OTHER;
    }
}

/* The older field: one bit per level. */
static enum access_source by_bits(unsigned level)
{
    if (level &
        (PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
        return ACCESS_REMOTE;
    if (level & PERF_MEM_LVL_LOC_RAM)
        return ACCESS_RAM;
    if (level & PERF_MEM_LVL_MISS || !(level & PERF_MEM_LVL_HIT))
        return level & ~(unsigned)PERF_MEM_LVL_NA ? ACCESS_OTHER : ACCESS_UNKNOWN;
    return level & PERF_MEM_LVL_L1    ? ACCESS_L1
           : level & PERF_MEM_LVL_LFB ? ACCESS_LFB
           : level & PERF_MEM_LVL_L2  ? ACCESS_L2
           : level & PERF_MEM_LVL_L3  ? ACCESS_L3
                                      : ACCESS_OTHER;
}

enum access_source access_source(uint64_t data_src)
{
    union perf_mem_data_src src = {.val = data_src};
    if (src.mem_remote)
        return ACCESS_REMOTE;
    if (src.mem_lvl_num && src.mem_lvl_num != PERF_MEM_LVLNUM_NA)
        return by_number((unsigned)src.mem_lvl_num);
    return by_bits((unsigned)src.mem_lvl);
}

const char *access_source_name(enum access_source source)
{
    static const char *const names[ACCESS_SOURCES] = {"L1",  "LFB",    "L2",    "L3",
                                                      "RAM", "remote", "other", "unknown"};
    return names[source];
}

struct accesses *accesses_new(void)
{
    struct accesses *a = calloc(1, sizeof *a);
    return whole_or_free(a, (a->objects = table_new()), free);
}

void accesses_free(struct accesses *a)
{
    if (!a)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (table_next(a->objects, &cursor, &key, &value))
        objects_free((struct objects *)(uintptr_t)value);
    table_free(a->objects);
    free(a);
}

/* *out NULL: no symbol is there. */
static int find_object(struct accesses *a, const struct data_place *place, const struct object **out)
{
    uint64_t *slot = table_put(a->objects, (uintptr_t)place->image, NULL);
    if (slot && !*slot)
        *slot = (uintptr_t)objects_new(place->image);
    if (!slot || !*slot)
        return -ENOMEM;
    *out = objects_at((const struct objects *)(uintptr_t)*slot, place->address);
    return 0;
}

/* Name of memory that is in no image, or where no symbol is. */
static const char *kind_of(const struct data_place *place)
{
    switch (place->kind) {
    case DATA_STACK:
        return "[stack]";
    case DATA_HEAP:
        return "[heap]";
    case DATA_ANONYMOUS:
        return "[anonymous memory]";
    case DATA_FILE:
        return "[file]";
    case DATA_IMAGE:
        return "[data]";
    case DATA_UNKNOWN:
        break;
    }
    return "[unknown memory]";
}

/* *object NULL: no symbol is there. */
static int name_of(struct accesses *a, const struct data_place *place, char *out, size_t size,
                   const char **image, const struct object **object)
{
    *object = NULL;
    *image = place->kind == DATA_IMAGE  ? image_name(place->image)
             : place->kind == DATA_FILE ? path_base(place->path ? place->path : "")
                                        : "";
    if (place->kind == DATA_IMAGE && find_object(a, place, object) < 0)
        return -ENOMEM;
    if (*object)
        name_format("", (*object)->name, 0, out, size);
    else
        snprintf(out, size, "%s", kind_of(place));
    return 0;
}

int accesses_name(struct accesses *a, const struct data_place *place, uint64_t address, char *out,
                  size_t size, const char **image)
{
    const struct object *object;
    (void)address;
    return name_of(a, place, out, size, image, &object);
}

int accesses_object(struct accesses *a, const struct data_place *place, uint64_t address, char *out,
                    size_t size, const char **image)
{
    const struct object *object;
    const int rc = name_of(a, place, out, size, image, &object);
    const size_t used = rc == 0 ? strlen(out) : size;
    if (used >= size)
        return rc;
    if (!object)
        snprintf(out + used, size - used, " 0x%llx", (unsigned long long)address);
    else if (place->address != object->address)
        snprintf(out + used, size - used, "+0x%llx", (unsigned long long)(place->address - object->address));
    return 0;
}
