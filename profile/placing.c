/* placing.c - see placing.h. */
#include "profile/placing.h"

#include "base/vec.h"

#define LEFT_OUT UINT64_MAX /* as a place: the filter leaves the path out */

bool placing_plain_user(const struct profile *p)
{
    const struct framing_options *o = &p->options.framing;
    return !o->threads && !o->inlined && !o->lines && !o->accesses;
}

bool placing_plain(const struct profile *p, const struct adding *a)
{
    return placing_plain_user(p) && !framing_in_kernel(p->framing, a->sample);
}

/* Keeps where the path last added to the bounded tree ends; without memory for it, it is sought again. */
static void keep_spot(struct profile *p, uint64_t *place)
{
    struct hcct_place spot = hcct_place(p->bounded);
    if (!*place && vec_push(p->spots, p->spot_count, p->spot_room, spot))
        *place = p->spot_count;
    else if (*place)
        p->spots[*place - 1] = spot;
}

int placing_framed(struct profile *p, const struct adding *a, uint64_t *place, struct cct_node **node,
                   struct fathom_error *err)
{
    const uint32_t *items;
    size_t count;
    int rc = framing_end(p->framing, &a->resolved->cid.place, a->process, a->sample, &items, &count, err);
    if (rc < 0)
        return rc;
    *node = NULL;
    if (p->options.filter && !filter_path(p->options.filter, framing_frames(p->framing), items, count)) {
        if (place)
            *place = LEFT_OUT;
        return 0;
    }
    a->outcome->counted = true;
    if (p->bounded) {
        rc = hcct_add(p->bounded, items, count, a->values) < 0 ? error_memory(err) : 0;
        if (rc == 0 && place)
            keep_spot(p, place);
        return rc;
    }
    *node = cct_add(p->exact, items, count, a->values);
    if (place)
        *place = (uintptr_t)*node;
    if (!a->outcome->node)
        a->outcome->node = *node;
    return *node ? 0 : error_memory(err);
}

bool placing_known(struct profile *p, const struct adding *a, const uint64_t *place, struct cct_node **node)
{
    if (!place || !*place)
        return false;
    *node = NULL;
    if (*place == LEFT_OUT)
        return true;
    a->outcome->counted = true;
    if (p->bounded)
        return hcct_add_at(p->bounded, p->spots[*place - 1], a->values);
    *node = (struct cct_node *)(uintptr_t)*place;
    cct_weigh(p->exact, *node, a->values);
    if (!a->outcome->node)
        a->outcome->node = *node;
    return true;
}

bool placing_own_sites(const struct resolved *r)
{
    return r->source == SOURCE_UNWOUND;
}

int placing_node(struct profile *p, const struct adding *a, uint32_t map_node, struct cct_node **node,
                 struct fathom_error *err)
{
    uint64_t *place = placing_plain(p, a) ? &p->places[map_node] : NULL;
    if (placing_known(p, a, place, node))
        return 0;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_node(p->framing, map_node, UINT32_MAX, placing_own_sites(a->resolved), err);
    return rc < 0 ? rc : placing_framed(p, a, place, node, err);
}
