/* mappings.c - a list under one lock: programs make few mappings, and the system call takes longer than a walk of
 * the list; see mappings.h. */
#include "heap/mappings.h"

#include "base/lock.h"

#define MOST 4096u

/* What is left of a mapping: several pieces, if the middle was unmapped. */
static struct piece {
    uint64_t begin, end;
    struct sampled sampled; /* of the mapping: the same in all its pieces */
} pieces[MOST];
static uint32_t count, lock;
static uint64_t made;

uint64_t mappings_add(uint64_t begin, uint64_t size, uint64_t weight)
{
    uint64_t name = 0;
    if (!lock_take(&lock))
        return 0;
    if (count < MOST) {
        name = (made++ % 0x7fff + 1) << 48 | (begin & ((UINT64_C(1) << 48) - 1));
        pieces[count++] = (struct piece){begin, begin + size, {name, weight, size}};
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
        have = address - pieces[i].begin < pieces[i].end - pieces[i].begin;
    lock_give(&lock);
    return have;
}

/* Removes the bytes from begin to end. Returns whether some are left. If there is no memory for another piece, a
 * hole in the middle is ignored. */
static bool cut_piece(struct piece *p, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin > p->begin ? begin : p->begin, to = end < p->end ? end : p->end;
    if (from >= to)
        return true;
    if (from > p->begin && to < p->end) {
        if (count < MOST) {
            pieces[count++] = (struct piece){to, p->end, p->sampled};
            p->end = from;
        }
    } else if (from == p->begin) {
        p->begin = to;
    } else {
        p->end = from;
    }
    return p->begin < p->end;
}

static bool has_pieces(uint64_t name)
{
    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].sampled.address == name)
            return true;
    return false;
}

struct sampled mappings_remove(uint64_t begin, uint64_t size)
{
    struct sampled ended = {0};
    if (!lock_take(&lock))
        return ended;
    for (uint32_t i = count; i-- > 0 && !ended.weight;)
        if (!cut_piece(&pieces[i], begin, begin + size)) {
            const struct sampled of = pieces[i].sampled;
            pieces[i] = pieces[--count];
            if (!has_pieces(of.address))
                ended = of;
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
