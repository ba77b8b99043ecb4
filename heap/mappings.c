/* mappings.c - a list under one lock, as programs make few and a system call takes longer than to walk it; see mappings.h. */
#include "heap/mappings.h"

#include "base/lock.h"

#define MOST 4096u

static struct mapping {
    uint64_t begin, end; /* what lies between may have holes */
    uint64_t left;       /* bytes that are still mapped */
    struct sampled sampled;
} mappings[MOST];
static uint32_t count, lock;
static uint64_t made;

uint64_t mappings_add(uint64_t begin, uint64_t size, uint64_t weight)
{
    uint64_t name = 0;
    if (!lock_take(&lock))
        return 0;
    if (count < MOST) {
        name = (made++ % 0x7fff + 1) << 48 | (begin & ((UINT64_C(1) << 48) - 1));
        mappings[count++] = (struct mapping){begin, begin + size, size, {name, weight, size}};
    }
    lock_give(&lock);
    return name;
}

bool mappings_have(uint64_t address)
{
    bool have = false;
    if (!lock_take(&lock))
        return false;
    for (uint32_t i = 0; i < count && !have; i++)
        have = address - mappings[i].begin < mappings[i].end - mappings[i].begin;
    lock_give(&lock);
    return have;
}

/* Takes the bytes from begin to end off. Whether some are left. */
static bool cut(struct mapping *m, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin > m->begin ? begin : m->begin, to = end < m->end ? end : m->end;
    if (from >= to)
        return true;
    m->left -= to - from < m->left ? to - from : m->left; /* a hole may be unmapped again */
    if (from == m->begin)
        m->begin = to;
    else if (to == m->end)
        m->end = from;
    return m->left && m->begin < m->end;
}

struct sampled mappings_remove(uint64_t begin, uint64_t size)
{
    struct sampled ended = {0};
    if (!lock_take(&lock))
        return ended;
    for (uint32_t i = count; i-- > 0 && !ended.weight;)
        if (!cut(&mappings[i], begin, begin + size)) {
            ended = mappings[i].sampled;
            mappings[i] = mappings[--count];
        }
    lock_give(&lock);
    return ended;
}

void mappings_fork_begins(void)
{
    lock_take(&lock);
}

void mappings_fork_ends(void)
{
    lock_give(&lock);
}
