/*
 * contexts.c - see contexts.h.
 *
 * Two tables: of paths, and of the places on the stack where they were seen. Nothing is ever removed from the
 * latter, which is read without the lock (process.h): an entry is complete before its chain contains it.
 */
#include "streams/runtime/contexts.h"

#include "base/raw.h"
#include "streams/runtime/frames.h"
#include "streams/runtime/process.h"

#define STACK_MOST (64u << 20) /* an address farther from the base is on another stack */
#define CHUNK      (1u << 20)  /* bytes of memory allocated at a time */
#define BUCKETS    65536u
/* A path with 20 frames takes 200 bytes, and 120 for each height of the stack: 65536 with 6 heights. */
#define CHUNKS_MOST 64

struct path {
    struct path *next;
    uint32_t id, depth;
    bool cut;
    uint64_t pcs[];
};

struct place {
    struct place *next;
    const uint64_t *pcs; /* of its path */
    uint64_t pc;
    uint32_t height, id, depth;
    uint32_t slots[]; /* below the base */
};

static struct path *paths[BUCKETS];
static struct place *places[BUCKETS];
static uint32_t count; /* of paths; ids are from 1 on */
static uint8_t *chunk;
static uint32_t chunk_left, chunks;
static __thread __attribute__((tls_model("initial-exec"))) uint64_t stack_base;

extern void *__libc_stack_end;

void contexts_begin(void)
{
    frames_begin();
    contexts_thread(__libc_stack_end);
}

void contexts_thread(void *base)
{
    stack_base = (uint64_t)base;
}

static uint32_t bucket_of(uint64_t hash)
{
    return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 48) % BUCKETS;
}

static struct place **bucket_at(uint64_t pc, uint64_t height)
{
    return &places[bucket_of(pc ^ height << 32)];
}

/* Whether the stack from here to the base is at least as high as the place. */
static bool is_there(const struct place *place, uint64_t base)
{
    for (uint32_t i = 0; i < place->depth; i++)
        if (*(const uint64_t *)(base - place->slots[i]) != place->pcs[i])
            return false;
    return true;
}

static const struct place *find_place(uint64_t pc, uint64_t height, uint64_t base)
{
    const struct place *place = __atomic_load_n(bucket_at(pc, height), __ATOMIC_ACQUIRE);
    while (place && !(place->pc == pc && place->height == height && is_there(place, base)))
        place = place->next;
    return place;
}

static void *take_memory(uint32_t bytes)
{
    bytes = (bytes + 7) & ~7u;
    if (bytes > chunk_left) {
        uint8_t *fresh = chunks < CHUNKS_MOST ? raw_memory(CHUNK) : NULL;
        if (!fresh)
            return NULL;
        chunks++;
        chunk = fresh;
        chunk_left = CHUNK;
    }
    chunk_left -= bytes;
    return chunk + chunk_left;
}

static bool is_path(const struct path *path, const struct frames *frames)
{
    return path->depth == frames->depth && path->cut == frames->cut &&
           raw_equal(path->pcs, frames->pcs, frames->depth * sizeof *frames->pcs);
}

static struct path *make_path(struct path **bucket, const struct frames *frames)
{
    uint32_t bytes = frames->depth * (uint32_t)sizeof *frames->pcs;
    struct path *path = count + 1 < PROCESS_CONTEXTS_MOST ? take_memory(sizeof *path + bytes) : NULL;
    if (!path)
        return NULL;
    path->id = ++count; /* which nothing else gets, even if the record below is lost */
    path->depth = frames->depth;
    path->cut = frames->cut;
    raw_copy(path->pcs, frames->pcs, bytes);
    if (!process_context(path->id, path->pcs, path->depth, path->cut))
        return NULL;
    path->next = *bucket;
    *bucket = path;
    return path;
}

/* NULL: there are too many. */
static struct path *path_of(const struct frames *frames)
{
    uint64_t hash = frames->depth;
    for (uint32_t i = 0; i < frames->depth; i++)
        hash = (hash ^ frames->pcs[i]) * 0xff51afd7ed558ccdu;
    struct path **bucket = &paths[bucket_of(hash ^ hash >> 32)], *path = *bucket;
    while (path && !is_path(path, frames))
        path = path->next;
    return path ? path : make_path(bucket, frames);
}

/* Adds the place of a path, even of one that has no number, so that it is not walked again. */
static void make_place(const struct frames *frames, const struct path *path, uint64_t pc, uint64_t sp,
                       uint64_t base)
{
    uint64_t height = base - sp;
    uint32_t depth = path ? frames->depth : 0;
    struct place **bucket = bucket_at(pc, height),
                 *place = take_memory((uint32_t)sizeof *place + depth * (uint32_t)sizeof *place->slots);
    if (!place)
        return;
    for (; *bucket && !path; bucket = &(*bucket)->next)
        ; /* one without a path matches everything at its height: it comes last */
    *place =
        (struct place){*bucket, path ? path->pcs : NULL, pc, (uint32_t)height, path ? path->id : 0, depth};
    for (uint32_t i = 0; i < depth; i++)
        place->slots[i] = (uint32_t)(base - frames->slots[i]);
    __atomic_store_n(bucket, place, __ATOMIC_RELEASE);
}

/* Walks the stack and adds a path that was not seen at this place before. */
static uint32_t learn(uint64_t pc, uint64_t sp, uint64_t base, bool vectors)
{
    static struct frames frames;
    frames.depth = 0;
    if (base && chunks < CHUNKS_MOST && !frames_refuse(pc))
        frames_walk(&frames, pc, sp, base, vectors);
    bool walked = frames.depth > 0;
    if (!walked) {
        frames.depth = 1;
        frames.cut = true;
        frames.pcs[0] = pc;
    }
    const struct path *path = path_of(&frames);
    if (walked && frames.steady)
        make_place(&frames, path, pc, sp, base);
    return path ? path->id : 0;
}

uint32_t contexts_of(uint64_t pc, uint64_t sp, bool vectors)
{
    uint64_t height = stack_base - sp, base = stack_base && height <= STACK_MOST ? stack_base : 0;
    const struct place *place = base ? find_place(pc, height, base) : NULL;
    uint32_t id = place ? place->id : 0;
    if (!place && process_lock()) {
        id = learn(pc, sp, base, vectors);
        process_unlock();
    }
    return id;
}
