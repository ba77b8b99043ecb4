/* audits.c - see audits.h. */
#include "infer/samples/audits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "pathmap/map/trie.h"

struct audits {
    const struct event *events;
    size_t event_count;
    uint32_t event; /* the one to resolve */
    uint32_t *nodes;
    size_t count, room, next;
    uint64_t asked;     /* calls of audits_hold_back() */
    struct table *held; /* by moment_key() -> 1 */
};

struct audits *audits_new(void)
{
    struct audits *a = calloc(1, sizeof *a);
    if (a && !(a->held = table_new())) {
        free(a);
        return NULL;
    }
    return a;
}

void audits_free(struct audits *a)
{
    if (!a)
        return;
    table_free(a->held);
    free(a->nodes);
    free(a);
}

void audits_events(struct audits *a, const struct event *events, size_t count, uint32_t event)
{
    a->events = events;
    a->event_count = count;
    a->event = event;
}

bool audits_is(const struct audits *a, const struct sample *sample)
{
    return sample->event < a->event_count && a->events[sample->event].audit;
}

int audits_add(struct audits *a, struct fathom_error *err)
{
    return vec_push(a->nodes, a->count, a->room, TRIE_NONE) ? 0 : error_memory(err);
}

void audits_tell(struct audits *a, uint32_t node)
{
    a->nodes[a->count - 1] = node;
}

static uint64_t moment_key(const struct sample *sample)
{
    return hash_u64((uint64_t)sample->pid << 32 | sample->tid) ^ sample->time;
}

int audits_hold(struct audits *a, const struct sample *sample, struct fathom_error *err)
{
    return table_put(a->held, moment_key(sample), NULL) ? 0 : error_memory(err);
}

int audits_hold_back(struct audits *a, const struct sample *sample, bool all, struct fathom_error *err)
{
    uint64_t number = a->asked++;
    bool chosen = all || (number >= AUDITS_FIRST && number % 10 == 0);
    if (!chosen || sample->event == a->event)
        return 0;
    return audits_hold(a, sample, err) < 0 ? -ENOMEM : 1;
}

bool audits_held(const struct audits *a, const struct sample *sample)
{
    return audits_is(a, sample) && table_find(a->held, moment_key(sample));
}

void audits_begin(struct audits *a)
{
    a->next = 0;
}

uint32_t audits_next(struct audits *a)
{
    return a->next < a->count ? a->nodes[a->next++] : TRIE_NONE;
}

struct anchors audits_paths(const struct audits *a)
{
    return (struct anchors){a->nodes, a->count};
}
