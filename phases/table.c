/* table.c - see table.h. */
#include "phases/table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

struct entry {
    struct phase_vector mean;
    uint32_t phase;
};

struct phase_table {
    double threshold;
    unsigned most; /* entries; 0: unlimited */
    uint32_t seen;
    uint64_t random;
    struct entry *entries;
    size_t count, capacity;
};

struct phase_table *phase_table_new(double threshold, unsigned capacity)
{
    struct phase_table *t = calloc(1, sizeof *t);
    if (t)
        *t = (struct phase_table){.threshold = threshold, .most = capacity, .random = 1};
    return t;
}

void phase_table_free(struct phase_table *t)
{
    if (t)
        free(t->entries);
    free(t);
}

static struct entry *nearest_entry(struct phase_table *t, const struct phase_vector *v)
{
    struct entry *found = NULL;
    double least = !t->most && t->count == PHASE_TABLE_MOST ? 2 : t->threshold;
    for (size_t i = 0; i < t->count; i++) {
        double distance = phase_vector_distance(&t->entries[i].mean, v);
        if (distance < least) {
            least = distance;
            found = &t->entries[i];
        }
    }
    return found;
}

/* An entry for a new phase. NULL: out of memory. */
static struct entry *free_entry(struct phase_table *t)
{
    if (t->most && t->count == t->most)
        return &t->entries[hash_random(&t->random) % t->count];
    return vec_reserve(t->entries, t->count, t->capacity, 1) ? &t->entries[t->count++] : NULL;
}

uint32_t phase_table_put(struct phase_table *t, const struct phase_vector *v)
{
    struct entry *e = nearest_entry(t, v);
    if (e) {
        phase_vector_join(&e->mean, v);
        return e->phase;
    }
    e = free_entry(t);
    if (!e)
        return 0;
    *e = (struct entry){.mean = *v, .phase = ++t->seen};
    return e->phase;
}
