/*
 * hcct_feed.h - the loop over calls and returns, instantiated for each kind of counter, so that `enter` and `leave` are
 * inlined.
 */
#ifndef FATHOM_HCCT_HCCT_FEED_H
#define FATHOM_HCCT_HCCT_FEED_H

#include <errno.h>

#include "hcct/hcct_data.h"

struct hcct_feeder {
    /* A node is entered, with a weight that may be 0; or with `resumed` continued in. It is on top of the stack. false: out of
     * memory. */
    bool (*enter)(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed);
    /* The node returns; its parent is on top of the stack. NULL: nothing to do. */
    void (*leave)(struct hcct *h, struct cct_node *parent, struct cct_node *node);
    bool looks; /* it uses the stack's depth in h */
};

static inline __attribute__((always_inline)) int hcct_feed_loop(struct hcct *h, const uint32_t *events,
                                                                const uint32_t *weights, size_t count,
                                                                size_t *done,
                                                                const struct hcct_feeder *feeder)
{
    struct cct_node **top = h->stack + h->depth, **end = h->stack + h->stack_capacity - 1;
    uint64_t total = 0;
    size_t i = 0;
    for (; i < count; i++) {
        uint32_t event = events[i];
        if (event == HCCT_RETURN) {
            if (top == h->stack)
                continue;
            struct cct_node *node = *top--;
            if (feeder->looks)
                h->depth = (size_t)(top - h->stack);
            if (feeder->leave)
                feeder->leave(h, *top, node);
            continue;
        }
        bool resumed = event & HCCT_RESUMED;
        uint32_t item = event & ~HCCT_RESUMED;
        struct cct_node *parent = *top, *child = parent->first_child;
        if (!child || child->item != item) {
            h->depth = (size_t)(top - h->stack);
            h->total[0] = add_saturating(h->total[0], total); /* make_room() may need it */
            total = 0;
            child = tree_search(&h->tree, parent, item);
            if (!child)
                break;
        }
        if (top == end) {
            h->depth = (size_t)(top - h->stack);
            if (!hcct_deepen(h))
                break;
            top = h->stack + h->depth;
            end = h->stack + h->stack_capacity - 1;
        }
        *++top = child;
        if (feeder->looks)
            h->depth = (size_t)(top - h->stack);
        uint64_t weight = weights ? weights[i] : 1;
        if (!feeder->enter(h, child, weight, resumed)) {
            top--;
            break;
        }
        total += resumed ? 0 : weight;
    }
    h->depth = (size_t)(top - h->stack);
    h->total[0] = add_saturating(h->total[0], total);
    *done = i;
    return i == count ? 0 : -ENOMEM;
}

/* Defines hcct_feed() of a kind, as two loops: with weights and without. */
#define HCCT_FEED(name, feeder)                                                                              \
    static int name(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count,           \
                    size_t *done)                                                                            \
    {                                                                                                        \
        return weights ? hcct_feed_loop(h, events, weights, count, done, &(feeder))                          \
                       : hcct_feed_loop(h, events, NULL, count, done, &(feeder));                            \
    }

#endif
