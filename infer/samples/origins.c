/* origins.c - see origins.h. */
#include "infer/samples/origins.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "infer/samples/starts.h"

#define CONTRADICTED (UINT32_MAX - 1) /* as `called`: two samples have different functions */

struct origins {
    struct table *known; /* thread -> start << 32 | called */
};

struct origins *origins_new(void)
{
    struct origins *o = calloc(1, sizeof *o);
    return whole_or_free(o, (o->known = table_new()), free);
}

void origins_free(struct origins *o)
{
    if (!o)
        return;
    table_free(o->known);
    free(o);
}

static uint64_t key_of(const struct process *process, uint32_t tid)
{
    uint64_t thread = (uint64_t)process_pid(process) << 32 | tid;
    return hash_u64(thread) ^ process_thread_birth(process, tid);
}

/* Whether the call before this return address is direct: then it did not call the function that the thread was started with, as
 * its caller does so through a pointer. */
static bool is_direct_call(const struct place *returned)
{
    size_t size;
    const uint8_t *code = image_bytes(returned->image, returned->address - 5, &size);
    return code && size >= 5 && code[0] == 0xe8;
}

/* Whether the function is one of the loader's first ones, which have the height of a thread's first function (STARTS_LOADER). */
static bool is_in_loader(const struct place *outermost)
{
    uint32_t first[STARTS_MAX];
    size_t count = starts_loader(outermost->image, first);
    for (size_t i = 0; i < count; i++)
        if (first[i] == outermost->function)
            return true;
    return false;
}

bool origins_learn(struct origins *o, const struct process *process, uint32_t tid,
                   const struct unwind_frame *outermost, uint64_t base, uint32_t called)
{
    uint64_t height = base - outermost->cfa;
    if (height != STARTS_START && height != STARTS_THREAD)
        return true;
    bool loader = height == STARTS_LOADER && process_stack_start(process, tid) == STACK_START_PROGRAM &&
                  is_in_loader(&outermost->place);
    uint64_t start = height == STARTS_START || loader ? STACK_START_PROGRAM : STACK_START_THREAD;
    if (start == STACK_START_PROGRAM || is_direct_call(&outermost->place))
        called = ORIGIN_UNKNOWN;
    bool added;
    uint64_t *value = table_put(o->known, key_of(process, tid), &added);
    if (!value)
        return false;
    uint32_t before = added ? ORIGIN_UNKNOWN : (uint32_t)*value;
    if (called == ORIGIN_UNKNOWN)
        called = before;
    else if (before != ORIGIN_UNKNOWN && before != called)
        called = CONTRADICTED;
    *value = start << 32 | called;
    return true;
}

struct origin origins_of(const struct origins *o, const struct process *process, uint32_t tid)
{
    const uint64_t *value = table_find(o->known, key_of(process, tid));
    if (!value)
        return (struct origin){process_stack_start(process, tid), ORIGIN_UNKNOWN};
    uint32_t called = (uint32_t)*value;
    return (struct origin){(enum stack_start)(*value >> 32),
                           called == CONTRADICTED ? ORIGIN_UNKNOWN : called};
}
