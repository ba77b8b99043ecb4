/* waker_paths.c - see waker_paths.h. */
#include "profile/waker_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "hcct/cct.h"
#include "perfdata/wait_reason.h"

/* A sequence of wakers: its last label is the node in the tree, below which is the path of each. */
struct chain {
    const struct cct_node *at[WAKERS_MOST];
    uint32_t count;
    double probability; /* that all of their paths are right; 1: proved */
};

struct thread {
    uint32_t pid;       /* another process may get its TID later */
    uint64_t wake;      /* of the wait that `waker` ended, as in the samples */
    struct chain waker; /* who ended its wait, and who woke that one */
    struct chain last;  /* the same for its last wait with a sample; `pid` says whose */
};

struct waker_paths {
    uint32_t depth;
    uint32_t unseen; /* item of the label for wakers without a sample */
    struct cct *tree;
    struct table *places; /* TID -> index in `threads` + 1 */
    struct thread *threads;
    size_t count, capacity;
    uint32_t *path;
    size_t path_count, path_capacity;
};

struct waker_paths *waker_paths_new(uint32_t depth, uint32_t unseen)
{
    struct waker_paths *p = allocate(struct waker_paths, .depth = depth, .unseen = unseen, .tree = cct_new(1),
                                     .places = table_new());
    return whole_or_free(p, p->tree && p->places, waker_paths_free);
}

void waker_paths_free(struct waker_paths *p)
{
    if (!p)
        return;
    cct_free(p->tree);
    table_free(p->places);
    free(p->threads);
    free(p->path);
    free(p);
}

/* NULL: out of memory. */
static struct thread *thread_of(struct waker_paths *p, uint32_t tid)
{
    size_t place = table_index(p->places, tid, p->threads, p->count, p->capacity, (struct thread){0});
    return place == SIZE_MAX ? NULL : &p->threads[place];
}

static bool append_all(struct waker_paths *p, const uint32_t *items, size_t count)
{
    if (!vec_reserve(p->path, p->path_count, p->path_capacity, count))
        return false;
    if (count)
        memcpy(p->path + p->path_count, items, count * sizeof *items);
    p->path_count += count;
    return true;
}

int waker_paths_keep(struct waker_paths *p, const struct sample *sample, double probability,
                     const uint32_t *items, size_t count)
{
    struct chain chain = {
        .at = {cct_add(p->tree, items, count, &(uint64_t){0})}, .count = 1, .probability = probability};
    const struct thread *waker = thread_of(p, sample->tid);
    if (!chain.at[0] || !waker)
        return -ENOMEM;
    const bool goes_on = sample->has_regs && waker->pid == sample->pid && p->depth > 1;
    for (uint32_t i = 0; goes_on && i < waker->last.count && chain.count < p->depth; i++)
        chain.at[chain.count++] = waker->last.at[i];
    chain.probability *= goes_on && waker->last.count ? waker->last.probability : 1;
    struct thread *woken = thread_of(p, (uint32_t)(sample->wake >> 32));
    if (!woken)
        return -ENOMEM;
    woken->wake = sample->wake;
    woken->waker = chain;
    return 0;
}

/* Updates who ended the wait, known or not. NULL: out of memory. */
static struct thread *take_waker(struct waker_paths *p, const struct sample *wait)
{
    struct thread *t = thread_of(p, wait->tid);
    if (t && (!t->waker.count || t->wake != wait->wake))
        t->waker = (struct chain){
            .at = {cct_add(p->tree, &p->unseen, 1, &(uint64_t){0})}, .count = 1, .probability = 1};
    if (!t || !t->waker.at[0])
        return NULL;
    t->wake = wait->wake;
    t->last = t->waker;
    t->pid = wait->pid;
    return t;
}

int waker_paths_probability(struct waker_paths *p, const struct sample *wait, double *out)
{
    const struct thread *t = take_waker(p, wait);
    *out = t ? t->last.probability : 0;
    return t ? 0 : -ENOMEM;
}

int waker_paths_join(struct waker_paths *p, const struct sample *wait, const uint32_t *items, size_t count,
                     const uint32_t **out, size_t *out_count)
{
    const struct thread *t = take_waker(p, wait);
    p->path_count = 0;
    bool good = t && append_all(p, items, count);
    for (uint32_t i = 0; good && i < t->last.count; i++)
        for (const struct cct_node *n = t->last.at[i]; good && cct_parent(n); n = cct_parent(n))
            good = append_all(p, &n->item, 1);
    *out = p->path;
    *out_count = p->path_count;
    return good ? 0 : -ENOMEM;
}
