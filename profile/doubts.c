/* doubts.c - see doubts.h. */
#include "profile/doubts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

struct doubts {
    struct table *numbers; /* node -> index in `at`, plus 1 */
    struct doubt *at;
    size_t count, capacity;
};

struct doubts *doubts_new(void)
{
    struct doubts *d = allocate(struct doubts, .numbers = table_new());
    return whole_or_free(d, d->numbers, free);
}

void doubts_free(struct doubts *d)
{
    if (!d)
        return;
    table_free(d->numbers);
    free(d->at);
    free(d);
}

int doubts_add(struct doubts *d, const struct cct_node *node, struct doubt doubt)
{
    const size_t index =
        table_index(d->numbers, (uintptr_t)node, d->at, d->count, d->capacity, (struct doubt){0});
    if (index == SIZE_MAX)
        return -ENOMEM;
    d->at[index].end += doubt.end;
    d->at[index].relief += doubt.relief;
    return 0;
}

struct doubt doubts_at(const struct doubts *d, const struct cct_node *node)
{
    const uint64_t *number = table_find(d->numbers, (uintptr_t)node);
    return number ? d->at[*number - 1] : (struct doubt){0};
}
