/* work.c - buffers, fixes and look-ups of the new segment; see work.h. */
#include "rewrite/move/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

struct move_extent move_extent_of(const struct move_work *work)
{
    struct move_extent e = {{0},
                            work->fix_count,
                            work->copy_count,
                            work->piece_count,
                            work->program_count,
                            work->run_count,
                            work->return_count,
                            work->repointed_count};
    for (unsigned b = 0; b < BUFFERS; b++)
        e.buffers[b] = work->buffers[b].size;
    return e;
}

void move_cut_back(struct move_work *work, const struct move_extent *to)
{
    for (unsigned b = 0; b < BUFFERS; b++)
        work->buffers[b].size = to->buffers[b];
    work->fix_count = to->fixes;
    work->copy_count = to->copies;
    work->piece_count = to->pieces;
    work->program_count = to->programs;
    work->run_count = to->runs;
    work->return_count = to->returns;
    work->repointed_count = to->repointed;
}

size_t move_append(struct move_buffer *buffer, const void *data, size_t n)
{
    size_t at = buffer->size;
    if (n > INT32_MAX - at || !vec_reserve(buffer->bytes, buffer->size, buffer->capacity, n ? n : 1))
        return SIZE_MAX;
    if (data && n)
        memcpy(buffer->bytes + at, data, n);
    else
        memset(buffer->bytes + at, 0, n);
    buffer->size += n;
    return at;
}

bool move_align(struct move_buffer *buffer, uint64_t like, size_t modulus)
{
    return move_append(buffer, NULL, (like - buffer->size) & (modulus - 1)) != SIZE_MAX;
}

bool move_fix(struct move_work *work, const struct move_fix *fix)
{
    return vec_push(work->fixes, work->fix_count, work->fix_capacity, *fix);
}

bool move_note_return(struct move_work *work, const struct move_return *at, uint32_t buffer)
{
    return vec_push(work->returns, work->return_count, work->return_capacity,
                    (struct work_return){*at, buffer});
}

uint64_t move_place_address(const struct move_work *work, struct move_place place)
{
    return work->buffers[place.buffer].address + place.offset;
}

const struct move_copy *move_copy_find(const struct move_work *work, uint64_t address, uint32_t number)
{
    const struct move_copy *c = work->copies;
    size_t i = lower_bound(m, 0, work->copy_count,
                           c[m].address < address || (c[m].address == address && c[m].number < number));
    return i < work->copy_count && c[i].address == address && c[i].number == number ? &c[i] : NULL;
}

int move_call_compare(const void *a, const void *b)
{
    const struct move_call *x = a, *y = b;
    return order_of(x->site, y->site) ?: order_of(x->in, y->in);
}

struct move_call *move_calls_sort(const struct move_plan *plan)
{
    struct move_call *calls = malloc((plan->call_count + 1) * sizeof *calls);
    if (calls && plan->call_count) {
        memcpy(calls, plan->calls, plan->call_count * sizeof *calls);
        qsort(calls, plan->call_count, sizeof *calls, move_call_compare);
    }
    return calls;
}

struct move_call move_call_find(const struct move_work *work, uint64_t site, uint32_t in)
{
    const struct move_call *calls = work->calls;
    size_t i = lower_bound(m, 0, work->plan->call_count,
                           calls[m].site < site || (calls[m].site == site && calls[m].in < in));
    bool found = i < work->plan->call_count && calls[i].site == site && calls[i].in == in;
    return found ? calls[i] : (struct move_call){.site = site, .in = in};
}

/* The new address of a target of code inserted before an instruction; false: none. */
static bool find_code(const struct move_result *result, const struct move_fix *fix, uint64_t *to)
{
    if (fix->kind == FIX_CODE)
        return move_translate(result, fix->target, fix->to.offset, false, to);
    bool found = move_entry(result, fix->target, fix->to.offset, to);
    *to += found ? fix->to.buffer : 0;
    return found;
}

static bool fix_one(struct move_work *work, const struct move_fix *fix, uint64_t target)
{
    uint64_t at = move_place_address(work, fix->at);
    uint8_t *bytes = work->buffers[fix->at.buffer].bytes + fix->at.offset;
    if (fix->kind == FIX_FUNCTION) {
        const struct move_copy *copy = move_copy_find(work, target, fix->to.offset);
        if (!copy)
            copy = move_copy_find(work, target, 0);
        if (copy)
            target = move_place_address(work, copy->entry);
    } else if (fix->kind == FIX_PLACE || fix->kind == FIX_PLACE_4 || fix->kind == FIX_SPOT_8) {
        target = move_place_address(work, fix->to);
    }
    if (fix->kind == FIX_SPOT_8) {
        memcpy(bytes, &target, 8);
        return true;
    }
    int64_t value = (int64_t)(fix->kind == FIX_PLACE_4 ? target : target - at - (uint64_t)(int64_t)fix->from);
    memcpy(bytes, &value, 4);
    return value >= INT32_MIN && value <= INT32_MAX;
}

int move_fix_all(struct move_work *work, const struct move_result *result)
{
    for (size_t i = 0; i < work->fix_count; i++) {
        const struct move_fix *fix = &work->fixes[i];
        uint64_t target = fix->target;
        if ((fix->kind == FIX_CODE || fix->kind == FIX_ENTRY) && !find_code(result, fix, &target))
            return -EINVAL;
        if (!fix_one(work, fix, target))
            return -EOVERFLOW;
    }
    return 0;
}
