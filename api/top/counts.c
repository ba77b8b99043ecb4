#include "api/top/counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "hcct/hcct.h"
#include "pathmap/map/partial.h"
#include "profile/script_frames.h"

#define SHOWN        2.0   /* minimum share of a shown context, in units of eps */
#define THREADS_MOST 4096u /* number of threads to distinguish */
#define NO_ITEM      UINT32_MAX

struct counts {
    struct counts_options options;
    struct image_cache *images;
    struct frames *frames;
    struct hcct *now, *before; /* before: NULL without a period, and at first */
    uint64_t began;            /* when `now` began, ns */
    uint32_t *items;           /* frame of each function, by number; NO_ITEM: not looked up yet */
    size_t item_capacity;
    uint32_t *path;
    size_t path_capacity;
    struct table *threads; /* TID -> item */
    struct script_frames *scripts;
};

static struct hcct *new_counter(const struct counts *c)
{
    return hcct_new(&(struct hcct_options){.kind = HCCT_LSS, .eps = c->options.eps, .metrics = 2});
}

struct counts *counts_new(const struct counts_options *options, struct image_cache *images)
{
    struct counts *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->options = *options;
    c->images = images;
    c->frames = frames_new();
    c->threads = table_new();
    c->scripts = c->frames ? script_frames_new(c->frames, false, false) : NULL;
    c->now = new_counter(c);
    c->began = clock_ns();
    if (c->frames && c->threads && c->scripts && c->now)
        return c;
    counts_free(c);
    return NULL;
}

void counts_free(struct counts *c)
{
    if (!c)
        return;
    hcct_free(c->now);
    hcct_free(c->before);
    script_frames_free(c->scripts);
    frames_free(c->frames);
    table_free(c->threads);
    free(c->items);
    free(c->path);
    free(c);
}

int counts_clear(struct counts *c)
{
    struct hcct *empty = new_counter(c);
    if (!empty)
        return -ENOMEM;
    hcct_free(c->now);
    hcct_free(c->before);
    c->now = empty;
    c->before = NULL;
    c->began = clock_ns();
    return 0;
}

/* Starts a new period if the current one is over. */
static int change_period(struct counts *c)
{
    uint64_t now = clock_ns();
    if (!(c->options.period > 0) || (double)(now - c->began) < c->options.period * 1e9)
        return 0;
    struct hcct *next = new_counter(c);
    if (!next)
        return -ENOMEM;
    hcct_free(c->before);
    c->before = c->now;
    c->now = next;
    c->began = now;
    return 0;
}

static uint32_t thread_item(struct counts *c, const struct process *process, uint32_t tid)
{
    uint64_t *known = table_find(c->threads, tid);
    if (known)
        return (uint32_t)*known;
    char text[64] = "[other threads]";
    bool named = table_count(c->threads) < THREADS_MOST;
    if (named)
        snprintf(text, sizeof text, "%s/%u", process ? process_thread_name(process, tid) : "?", tid);
    uint32_t item = frames_label(c->frames, FRAME_LABEL, text);
    if (named && item != FRAMES_NONE && (known = table_put(c->threads, tid, NULL)) != NULL)
        *known = item;
    return item;
}

static uint32_t look_up(struct counts *c, const struct trie *trie, uint32_t function)
{
    struct build_id id;
    struct image *image;
    uint64_t address;
    const char *name;
    const char *path = trie_image_path(trie, trie_function_at(trie, function, &address, &name), &id);
    if (partial_is_image(path))
        return frames_label(c->frames, FRAME_PARTIAL, name);
    if (image_cache_get(c->images, path, &id, &image, NULL) == 0) {
        uint32_t index = image_function_entry(image, address);
        if (index != IMAGE_NO_FUNCTION)
            return frames_function(c->frames, image, index);
    }
    return frames_named(c->frames, name, path_base(path), address);
}

static uint32_t function_item(struct counts *c, const struct trie *trie, uint32_t function)
{
    size_t known = c->item_capacity;
    if (!vec_reserve(c->items, function, c->item_capacity, 1))
        return FRAMES_NONE;
    for (size_t i = known; i < c->item_capacity; i++)
        c->items[i] = NO_ITEM;
    if (c->items[function] == NO_ITEM)
        c->items[function] = look_up(c, trie, function);
    return c->items[function];
}

static bool is_whole(const uint32_t *path, size_t depth)
{
    size_t i = 0;
    while (i < depth && path[i] != FRAMES_NONE)
        i++;
    return i == depth;
}

int counts_add(struct counts *c, const struct trie *trie, const struct online_context *s,
               struct fathom_error *err)
{
    size_t depth = 0;
    uint64_t weight = s->sample->period,
             values[2] = {weight, count_saturating(s->sure * (double)weight + 0.5)};
    if (change_period(c) < 0 || !vec_reserve(c->path, 0, c->path_capacity, s->depth + 2))
        return error_memory(err);
    c->path[depth++] = thread_item(c, s->process, s->sample->tid);
    if (s->certainty == CERTAINTY_UNKNOWN)
        c->path[depth++] = frames_label(c->frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]");
    for (size_t i = 0; i < s->depth; i++)
        c->path[depth++] = function_item(c, trie, s->functions[i]);
    if (!is_whole(c->path, depth)) /* script_frames_join() looks all items up */
        return error_memory(err);
    const uint32_t *joined = NULL;
    if (s->sample->script &&
        script_frames_join(c->scripts, s->sample->script, c->path, depth, &joined, &depth) < 0)
        return error_memory(err);
    if (!vec_reserve(c->path, 0, c->path_capacity, depth + 1))
        return error_memory(err);
    if (joined)
        memcpy(c->path, joined, depth * sizeof *joined);
    if (s->sample->wait)
        c->path[depth++] = frames_label(c->frames, FRAME_LABEL, wait_reason_label(s->sample->wait));
    else if (s->sample->mode == SAMPLE_MODE_KERNEL)
        c->path[depth++] = frames_label(c->frames, FRAME_KERNEL, "[kernel]");
    return !is_whole(c->path, depth) || hcct_add(c->now, c->path, depth, values) < 0 ? error_memory(err) : 0;
}

static int add_counter(struct cct *tree, const struct hcct *counter, double phi, bool threads,
                       uint32_t thread)
{
    struct cct *hot = hcct_query(counter, phi);
    int rc = hot ? 0 : -ENOMEM;
    if (rc < 0)
        return rc;
    if (thread == FRAMES_NONE)
        cct_weigh(tree, cct_root(tree), cct_root(hot)->self);
    for (const struct cct_node *t = cct_root(hot)->first_child; t && rc == 0; t = t->next_sibling) {
        if (thread != FRAMES_NONE && t->item != thread)
            continue;
        struct cct_node *to = threads ? cct_child(tree, cct_root(tree), t->item) : cct_root(tree);
        rc = to ? cct_graft(tree, to, t, NULL) : -ENOMEM;
    }
    cct_free(hot);
    return rc;
}

struct cct *counts_tree(struct counts *c, bool threads, uint32_t thread)
{
    struct cct *tree = change_period(c) == 0 ? cct_new(2) : NULL;
    double phi = SHOWN * c->options.eps;
    int rc = tree ? add_counter(tree, c->now, phi, threads, thread) : 0;
    if (tree && c->before && rc == 0)
        rc = add_counter(tree, c->before, phi, threads, thread);
    if (rc < 0) {
        cct_free(tree);
        tree = NULL;
    }
    return tree;
}

const struct frames *counts_frames(const struct counts *c)
{
    return c->frames;
}
