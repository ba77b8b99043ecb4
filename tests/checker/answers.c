/* answers.c - see answers.h. Indistinguishable samples form a list, in order of arrival. */
#include "tests/checker/answers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/hash.h"

#define NONE UINT32_MAX

struct answer {
    uint32_t first, count; /* of its nodes */
    uint32_t next;         /* of the same key */
};

struct answers {
    struct table *index; /* key -> last << 32 | first, each + 1 */
    struct answer *items;
    size_t count, capacity;
    uint32_t *nodes;
    size_t node_count, node_capacity;
};

struct answers *answers_new(void)
{
    struct answers *a = calloc(1, sizeof *a);
    if (a && !(a->index = table_new())) {
        free(a);
        a = NULL;
    }
    return a;
}

void answers_free(struct answers *a)
{
    if (!a)
        return;
    table_free(a->index);
    free(a->items);
    free(a->nodes);
    free(a);
}

/* Without BP, which the engine hands on for some samples alone. */
static uint64_t sample_key(const struct sample *s)
{
    uint64_t words[] = {(uint64_t)s->pid << 32 | s->tid, s->time, s->ip, s->sp, s->period};
    return checksum_of(words, sizeof words);
}

static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity * 2 + 1024;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

int answers_add(struct answers *a, const struct sample *sample, const struct resolved *resolved)
{
    bool added;
    uint64_t *place = table_put(a->index, sample_key(sample), &added);
    if (!place || !grow((void **)&a->items, a->count, &a->capacity, sizeof *a->items))
        return -ENOMEM;
    struct answer answer = {(uint32_t)a->node_count, 0, NONE};
    bool known = resolved->kind != RESOLVED_UNKNOWN;
    for (; known && (answer.count == 0 || answer.count < resolved->posterior_count); answer.count++) {
        if (!grow((void **)&a->nodes, a->node_count, &a->node_capacity, sizeof *a->nodes))
            return -ENOMEM;
        a->nodes[a->node_count++] = answer.count ? resolved->posterior[answer.count].node : resolved->node;
    }
    uint64_t number = a->count + 1;
    if (*place >> 32)
        a->items[(*place >> 32) - 1].next = (uint32_t)a->count;
    *place = number << 32 | (*place & UINT32_MAX ? *place & UINT32_MAX : number);
    a->items[a->count++] = answer;
    return 0;
}

int answers_take(struct answers *a, const struct sample *sample, const uint32_t **nodes)
{
    uint64_t *place = table_find(a->index, sample_key(sample));
    if (!place || !(*place & UINT32_MAX))
        return -ENOENT;
    const struct answer *answer = &a->items[(*place & UINT32_MAX) - 1];
    *place = answer->next == NONE ? 0 : (*place >> 32 << 32 | (answer->next + UINT64_C(1)));
    *nodes = a->nodes ? a->nodes + answer->first : NULL; /* all may be unknown */
    return (int)answer->count;
}
