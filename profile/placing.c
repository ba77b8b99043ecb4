/* placing.c - see placing.h. */
#include "profile/placing.h"

#include <string.h>

#include "base/vec.h"
#include "infer/contexts/certainty.h"

#define LEFT_OUT UINT64_MAX /* as a place: the filter excludes the path */

bool placing_plain_user(const struct profile *p)
{
    const struct framing_options *o = &p->options.framing;
    return !o->levels.count && !o->threads && !o->inlined && !o->lines && !o->places && !o->accesses &&
           !o->locks;
}

bool placing_woken(const struct profile *p, const struct sample *sample)
{
    return p->wakers && sample->wait && sample->wait != WAIT_RUNNABLE && sample->wake &&
           sample_counts(sample);
}

bool placing_plain(const struct profile *p, const struct adding *a)
{
    return placing_plain_user(p) && !framing_in_kernel(p->framing, a->sample) && !a->sample->script &&
           !a->sample->wait;
}

/* Stores where the path that was last added to the bounded tree ends; if memory runs out, it is searched for again. */
static void store_spot(struct profile *p, uint64_t *place)
{
    struct hcct_place spot = hcct_place(p->bounded);
    if (!*place && vec_push(p->spots, p->spot_count, p->spot_capacity, spot))
        *place = p->spot_count;
    else if (*place)
        p->spots[*place - 1] = spot;
}

/* The sampled instruction: for a precise event the sample's address, which may differ from that of the registers. */
static struct place sampled_place(const struct adding *a)
{
    struct place place, own = a->resolved->cid.place;
    bool known = a->process && process_place(a->process, a->sample->ip, &place);
    return known && (!own.image || (own.image == place.image && own.function == place.function)) ? place
                                                                                                 : own;
}

/* Stores a sample whose weight was added to a path; with AMBIGUOUS_SPLIT a part of it. */
static bool store_sample(struct profile *p, const struct adding *a, const struct cct_node *node)
{
    if (!p->options.samples || !sample_counts(a->sample))
        return true;
    struct place place = sampled_place(a);
    const struct placed_sample placed = {.time = a->sample->time,
                                         .node = node,
                                         .comm = a->process ? process_thread_name(a->process, a->sample->tid)
                                                            : "",
                                         .pid = a->sample->pid,
                                         .tid = a->sample->tid,
                                         .probability = (float)a->probability,
                                         .certainty = (uint8_t)certainty_of(a->resolved),
                                         .wait = (uint8_t)a->sample->wait,
                                         .image = place.image,
                                         .address = place.address};
    uint32_t metrics = p->options.metrics.count;
    if (!vec_reserve(p->sample_values, p->sample_count * metrics, p->value_capacity, metrics) ||
        !vec_push(p->samples, p->sample_count, p->sample_capacity, placed))
        return false;
    memcpy(p->sample_values + (p->sample_count - 1) * metrics, a->values, metrics * sizeof *a->values);
    return true;
}

int placing_framed(struct profile *p, const struct adding *a, uint64_t *place, struct cct_node **node,
                   struct fathom_error *err)
{
    const uint32_t *items;
    size_t count;
    int rc = framing_end(p->framing, &a->resolved->cid.place, a->process, a->sample, &items, &count, err);
    if (rc == 0 && placing_woken(p, a->sample) &&
        waker_paths_join(p->wakers, a->sample, items, count, &items, &count) < 0)
        rc = error_memory(err);
    if (rc < 0)
        return rc;
    *node = NULL;
    if (p->options.filter && !filter_path(p->options.filter, framing_frames(p->framing), items, count)) {
        if (place)
            *place = LEFT_OUT;
        return 0;
    }
    a->outcome->counted = true;
    a->outcome->weight += a->values[0];
    if (p->bounded) {
        rc = hcct_add(p->bounded, items, count, a->values) < 0 ? error_memory(err) : 0;
        if (rc == 0 && place)
            store_spot(p, place);
        return rc;
    }
    *node = cct_add(p->exact, items, count, a->values);
    if (place)
        *place = (uintptr_t)*node;
    return *node && store_sample(p, a, *node) ? 0 : error_memory(err);
}

int placing_known(struct profile *p, const struct adding *a, const uint64_t *place, struct cct_node **node,
                  struct fathom_error *err)
{
    if (!place || !*place)
        return 0;
    *node = NULL;
    if (*place == LEFT_OUT)
        return 1;
    if (p->bounded && !hcct_add_at(p->bounded, p->spots[*place - 1], a->values))
        return 0;
    a->outcome->counted = true;
    a->outcome->weight += a->values[0];
    if (p->bounded)
        return 1;
    *node = (struct cct_node *)(uintptr_t)*place;
    cct_weigh(p->exact, *node, a->values);
    return store_sample(p, a, *node) ? 1 : error_memory(err);
}

/* Where a node's place is stored: with inlined functions or lines there is one for each sampled address. */
static uint64_t *place_of(struct profile *p, const struct adding *a, uint32_t map_node)
{
    const struct framing_options *o = &p->options.framing;
    const struct place *sampled = &a->resolved->cid.place;
    if (placing_plain(p, a))
        return &p->places[map_node];
    if (o->levels.count || o->threads || o->accesses || o->locks || p->bounded ||
        framing_in_kernel(p->framing, a->sample) || placing_woken(p, a->sample))
        return NULL;
    uint64_t path =
        ((uint64_t)map_node << 2 | framing_sites(a->resolved)) + ((uint64_t)a->sample->wait << 40);
    return table_put(p->others,
                     hash_u64(path) + hash_u64(sampled->address + hash_u64((uintptr_t)sampled->image)) +
                         hash_u64((uintptr_t)a->sample->script),
                     NULL);
}

int placing_node(struct profile *p, const struct adding *a, uint32_t map_node, struct cct_node **node,
                 struct fathom_error *err)
{
    uint64_t *place = place_of(p, a, map_node);
    int known = placing_known(p, a, place, node, err);
    if (known)
        return known < 0 ? known : 0;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_node(p->framing, map_node, UINT32_MAX, framing_sites(a->resolved), err);
    return rc < 0 ? rc : placing_framed(p, a, place, node, err);
}
