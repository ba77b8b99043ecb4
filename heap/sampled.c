/* sampled.c - a hash table with linear probing under one lock; see sampled.h. */
#include "heap/sampled.h"

#include "base/lock.h"

#define SLOTS 262144u
#define MOST  (SLOTS / 4 * 3)

uint8_t sampled_in[SAMPLED_BUCKETS];

static struct sampled slots[SLOTS];
static uint32_t count, lock;

static uint32_t slot_of(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
}

/* The slot with this address, or the free one for it. */
static uint32_t find_slot(uint64_t address)
{
    uint32_t at = slot_of(address);
    while (slots[at].weight && slots[at].address != address)
        at = (at + 1) % SLOTS;
    return at;
}

bool sampled_add(struct sampled allocation)
{
    bool added = false;
    if (!lock_take(&lock))
        return false;
    const uint32_t at = find_slot(allocation.address);
    if (slots[at].weight || count < MOST) {
        uint8_t *in = &sampled_in[sampled_bucket(allocation.address)];
        if (!slots[at].weight) {
            count++;
            __atomic_store_n(in, (uint8_t)(*in + (*in < UINT8_MAX)), __ATOMIC_RELAXED);
        }
        slots[at] = allocation;
        added = true;
    }
    lock_give(&lock);
    return added;
}

/* Frees a slot and moves those behind it to where they would be without it (Knuth, volume 3, section 6.4,
 * algorithm R). */
static void remove_at(uint32_t at)
{
    for (uint32_t next = at;;) {
        slots[at].weight = 0;
        uint32_t wanted;
        do {
            next = (next + 1) % SLOTS;
            if (!slots[next].weight)
                return;
            wanted = slot_of(slots[next].address);
        } while (at <= next ? at < wanted && wanted <= next : at < wanted || wanted <= next);
        slots[at] = slots[next];
        at = next;
    }
}

struct sampled sampled_take(uint64_t address)
{
    if (!lock_take(&lock))
        return (struct sampled){0};
    const uint32_t at = find_slot(address);
    const struct sampled taken = slots[at];
    if (taken.weight) {
        uint8_t *in = &sampled_in[sampled_bucket(address)];
        __atomic_store_n(in, (uint8_t)(*in - (*in < UINT8_MAX)), __ATOMIC_RELAXED);
        count--;
        remove_at(at);
    }
    lock_give(&lock);
    return taken;
}

void sampled_fork_begins(void)
{
    lock_take(&lock); /* in the child a lock held by another thread would stay taken */
}

void sampled_fork_ends(void)
{
    lock_give(&lock);
}
