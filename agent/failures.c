#include "agent/failures.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"

#define BLAMED 12u /* points */

static const uint16_t points_of[] = {[FAILED_TO_READ] = 4, [FAILED_TO_SHIP] = 1, [FAILED_TO_REMOVE] = 0};

struct failures {
    struct table *of; /* checksum of a name -> struct failure */
};

struct failure {
    uint32_t times;
    uint16_t points, unsettled; /* unsettled: since another file was put into the store */
};
_Static_assert(sizeof(struct failure) == sizeof(uint64_t), "it is a value of a table");

static uint64_t name_key(const char *name)
{
    return checksum_of(name, strlen(name));
}

static struct failure find_failure(const struct failures *f, const char *name)
{
    struct failure found = {0};
    const uint64_t *value = table_find(f->of, name_key(name));
    if (value)
        memcpy(&found, value, sizeof found);
    return found;
}

struct failures *failures_new(void)
{
    struct failures *f = calloc(1, sizeof *f);
    if (f && !(f->of = table_new())) {
        free(f);
        return NULL;
    }
    return f;
}

void failures_free(struct failures *f)
{
    if (!f)
        return;
    table_free(f->of);
    free(f);
}

unsigned failures_note(struct failures *f, const char *name, enum failed what)
{
    struct failure failure = find_failure(f, name);
    uint64_t *value = table_put(f->of, name_key(name), NULL);
    failure.times++;
    if (failure.unsettled < points_of[what])
        failure.unsettled = points_of[what];
    if (value)
        memcpy(value, &failure, sizeof failure);
    return failure.times;
}

void failures_settle(struct failures *f)
{
    uint64_t name, value;
    for (size_t cursor = 0; table_next(f->of, &cursor, &name, &value);) {
        struct failure failure;
        memcpy(&failure, &value, sizeof failure);
        if (failure.points < BLAMED)
            failure.points = (uint16_t)(failure.points + failure.unsettled);
        failure.unsettled = 0;
        memcpy(table_find(f->of, name), &failure, sizeof failure);
    }
}

unsigned failures_of(const struct failures *f, const char *name)
{
    return find_failure(f, name).times;
}

bool failures_blame(const struct failures *f, const char *name)
{
    return find_failure(f, name).points >= BLAMED;
}

void failures_forget(struct failures *f, const char *name)
{
    table_remove(f->of, name_key(name));
}

void failures_keep(struct failures *f, const struct spool *spool)
{
    struct table *kept = table_new();
    bool whole = kept;
    for (size_t i = 0; whole && i < spool->count; i++) {
        const uint64_t name = name_key(spool->files[i].name), *value = table_find(f->of, name);
        whole = !value || table_set(kept, name, *value);
    }
    if (whole) {
        struct table *all = f->of;
        f->of = kept;
        kept = all;
    }
    table_free(kept);
}
