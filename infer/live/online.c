/* online.c - see online.h. */
#include "infer/live/online.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "infer/engine/learn.h"
#include "infer/samples/cid.h"
#include "perfdata/announced.h"
#include "perfdata/latency.h"
#include "perfdata/scripts.h"
#include "perfdata/stack_record.h"

#define CANDIDATES_MOST 64u /* paths per CID */
/* minimum time between two snapshots of the paths, which samples without a stack use, */
#define UPDATE_NS    500000000u
#define UPDATE_SHARE 100u       /* and this many times what a snapshot takes */
#define THREADS_MOST (1u << 16) /* with a last path */

#define READINGS_KEPT 100000u /* by scripts.h: 9 MB */

struct online {
    struct online_input in;
    struct decoder *decoder;
    struct order *order;
    struct announced *announced;
    struct latency latency;
    struct scripts *scripts;
    uint64_t readings; /* scripts_readings() when they were last cleared */
    struct processes *processes;
    struct learner *learner;
    struct pathmap *map; /* over the learner's trie */
    uint32_t functions;  /* number in the trie when the map was made */
    uint32_t nodes;      /* the same */
    uint64_t due;        /* ns: earliest time of the next snapshot */
    uint32_t *path;      /* scratch: functions */
    size_t path_capacity;
    struct table *last; /* TID -> node of the trie that it was in last */
    struct online_summary summary;
};

/* Makes a new snapshot of the paths, unless the last one is too recent and has at least half of them. */
static int refresh_map(struct online *o, struct fathom_error *err)
{
    uint64_t from = clock_ns();
    uint32_t nodes = trie_node_count(o->learner->trie);
    if (o->map && (nodes == o->nodes || (from < o->due && nodes / 2 < o->nodes)))
        return 0;
    o->functions = trie_function_count(o->learner->trie);
    o->nodes = nodes;
    int rc = o->map ? pathmap_update(o->map, err) : pathmap_over(o->learner->trie, &o->map, err);
    uint64_t now = clock_ns(), pause = UPDATE_SHARE * (now - from);
    o->due = now + (pause > UPDATE_NS ? pause : UPDATE_NS);
    return rc;
}

/* The height of the innermost frame that the paths of two nodes of the map share, + 1; 0: they share none. */
static uint32_t shared_height(const struct pathmap *map, uint32_t a, uint32_t b)
{
    while (a != PATHMAP_NONE && b != PATHMAP_NONE && a != b) {
        struct pathmap_node x = pathmap_node(map, a), y = pathmap_node(map, b);
        if (x.height >= y.height)
            a = x.parent;
        else
            b = y.parent;
    }
    return a != PATHMAP_NONE && a == b ? pathmap_node(map, a).height + 1 : 0;
}

/* The share of the stacks with the node's CID that had its path, counting one more that had another. */
static double share_of(const struct online *o, uint32_t number)
{
    struct pathmap_node node = pathmap_node(o->map, number);
    uint32_t first, count = pathmap_find(o->map, node.function, node.height, &first);
    uint64_t all = 1;
    for (uint32_t i = 0; i < count && i < CANDIDATES_MOST; i++)
        all += pathmap_node(o->map, first + i).passes;
    return (double)node.passes / (double)all;
}

/* The most probable node of the map with the sample's CID; PATHMAP_NONE: there is none. */
static int find_by_cid(struct online *o, const struct process *process, const struct observation *observation,
                       uint32_t *out, uint32_t *function, struct fathom_error *err)
{
    const struct sample *sample = &observation->record->sample;
    struct cid cid = cid_of_frame(process, sample, &observation->frame);
    *out = PATHMAP_NONE;
    *function = TRIE_NONE;
    if (!cid.place.image || cid.place.function == IMAGE_NO_FUNCTION)
        return 0;
    *function = trainer_function(o->learner->trainer, &cid.place);
    if (*function == TRIE_NONE)
        return error_memory(err);
    int rc = refresh_map(o, err);
    if (rc < 0)
        return rc;
    if (cid.reason != UNKNOWN_NOT || *function >= o->functions || cid.height > UINT32_MAX)
        return 0;
    const uint64_t *last = table_find(o->last, sample->tid);
    uint32_t before = last ? pathmap_number(o->map, (uint32_t)*last) : PATHMAP_NONE;
    uint32_t first, count = pathmap_find(o->map, *function, (uint32_t)cid.height, &first), best_shared = 0;
    uint64_t best_seen = 0;
    for (uint32_t i = 0; i < count && i < CANDIDATES_MOST; i++) {
        struct pathmap_node node = pathmap_node(o->map, first + i);
        uint32_t shared = before == PATHMAP_NONE ? 0 : shared_height(o->map, first + i, before);
        if (*out != PATHMAP_NONE &&
            (shared < best_shared || (shared == best_shared && node.passes <= best_seen)))
            continue;
        *out = first + i;
        best_shared = shared;
        best_seen = node.passes;
    }
    return 0;
}

static int remember_node(struct online *o, uint32_t tid, uint32_t node, struct fathom_error *err)
{
    const bool room = table_count(o->last) < THREADS_MOST || table_find(o->last, tid);
    return !room || table_set(o->last, tid, node) ? 0 : error_memory(err);
}

static int pass_sample(struct online *o, const struct observation *observation, struct fathom_error *err)
{
    const struct sample *sample = &observation->record->sample;
    const uint32_t own = observation->learned.node;
    struct online_context context = {.sample = sample, .certainty = CERTAINTY_UNKNOWN};
    struct online_summary *s = &o->summary;
    uint32_t number = PATHMAP_NONE, function = TRIE_NONE;
    int rc = 0;
    context.process = process_at(o->processes, sample);
    if (own != TRIE_NONE) {
        bool whole = sample->known != SAMPLE_STACK_SAME || sample->compared == STACK_RECORD_ALL;
        context.certainty = whole ? CERTAINTY_PROVED : CERTAINTY_INFERRED;
        number = o->map ? pathmap_number(o->map, own) : PATHMAP_NONE;
        int depth = trie_path(o->learner->trie, own, &o->path, &o->path_capacity);
        context.depth = depth < 0 ? 0 : (size_t)depth;
        rc = depth < 0 ? error_memory(err) : remember_node(o, sample->tid, own, err);
    } else if (context.process) {
        rc = find_by_cid(o, context.process, observation, &number, &function, err);
        if (rc == 0 && number != PATHMAP_NONE) {
            int depth = pathmap_read_path(o->map, number, &o->path, &o->path_capacity, err);
            rc = depth < 0 ? depth : 0;
            context.depth = depth < 0 ? 0 : (size_t)depth;
            context.certainty = CERTAINTY_INFERRED;
        } else if (rc == 0 && function != TRIE_NONE) {
            if (!vec_reserve(o->path, 0, o->path_capacity, 1))
                return error_memory(err);
            o->path[0] = function;
            context.depth = 1;
        }
    }
    if (rc < 0)
        return rc;
    context.functions = o->path;
    if (context.certainty == CERTAINTY_PROVED)
        context.sure = 1;
    else if (context.certainty == CERTAINTY_INFERRED && number != PATHMAP_NONE)
        context.sure = share_of(o, number);
    s->samples++;
    s->weight = add_saturating(s->weight, sample->period);
    if (context.certainty == CERTAINTY_PROVED)
        s->proved = add_saturating(s->proved, sample->period);
    else if (context.certainty == CERTAINTY_INFERRED)
        s->inferred = add_saturating(s->inferred, sample->period);
    return o->in.sink(o->in.context, &context, err);
}

static int limit_readings(struct online *o, struct fathom_error *err)
{
    if (scripts_readings(o->scripts) - o->readings <= READINGS_KEPT)
        return 0;
    o->readings = scripts_readings(o->scripts);
    return scripts_forget_readings(o->scripts) < 0 ? error_memory(err) : 0;
}

/* An order_sink. */
static int take_record(void *online, const struct record *given, struct fathom_error *err)
{
    struct online *o = online;
    struct learner *l = o->learner;
    struct record record = *given;
    int rc = limit_readings(o, err);
    rc = rc < 0 ? rc : announced_take(o->announced, &record, err);
    if (rc)
        return rc < 0 ? rc : 0;
    if (record.kind == RECORD_SAMPLE && latency_take(&o->latency, &record.sample, err) < 0)
        return -ENOMEM;
    if (record.kind == RECORD_LOST)
        o->summary.lost += record.lost;
    bool sampled = record.kind == RECORD_SAMPLE;
    if (sampled && trie_node_count(l->trie) >= ONLINE_NODES && record.sample.stack) {
        o->summary.full = true;
        record.sample.stack = NULL;
        record.sample.stack_size = 0;
    }
    struct observation observation;
    rc = learner_observe(l, o->processes, &record, &observation, err);
    const bool counts = sampled && sample_counts(&record.sample) &&
                        (record.sample.event == o->in.counted[0] || record.sample.event == o->in.counted[1]);
    return rc < 0 || !counts ? rc : pass_sample(o, &observation, err);
}

int online_add(struct online *o, const void *records, size_t size, struct fathom_error *err)
{
    return order_push_all(o->order, records, size, err);
}

int online_finish(struct online *o, struct fathom_error *err)
{
    return order_flush(o->order, err);
}

int online_name_code(struct online *o, const void *data, size_t size, struct fathom_error *err)
{
    if (image_cache_code_names(o->in.images, data, size) < 0)
        return error_memory(err);
    processes_renamed(o->processes);
    return 0;
}

void online_restart(struct online *o)
{
    o->summary = (struct online_summary){.full = o->summary.full};
}

void online_summary(const struct online *o, struct online_summary *out)
{
    *out = o->summary;
    out->stacks = o->learner->learned;
    out->nodes = trie_node_count(o->learner->trie);
    out->scripts_apart = scripts_readings(o->scripts) > 0;
}

int online_new(const struct online_input *input, struct online **out, struct fathom_error *err)
{
    struct online *o = calloc(1, sizeof *o);
    if (!o)
        return error_memory(err);
    o->in = *input;
    int rc = decoder_new(input->events, input->count, &o->decoder, err);
    if (rc == 0) {
        o->order = order_new(o->decoder, true, take_record, o);
        o->announced = announced_new(input->events, input->count);
        o->scripts = scripts_new();
        o->processes = processes_new(input->images, input->log);
        o->learner = learner_new(LEARN_DUMPS, false);
        o->last = table_new();
        rc = o->order && o->announced && o->scripts && o->processes && o->learner && o->last
                 ? 0
                 : error_memory(err);
    }
    if (rc == 0)
        rc = latency_begin(&o->latency, input->events, input->count, err);
    if (rc == 0)
        announced_use_scripts(o->announced, o->scripts);
    if (rc == 0)
        learner_events(o->learner, input->events, input->count, 0);
    if (rc == 0 && input->map)
        rc = trie_merge(o->learner->trie, input->map, err);
    if (rc < 0)
        online_free(o);
    else
        *out = o;
    return rc;
}

void online_free(struct online *o)
{
    if (!o)
        return;
    order_free(o->order);
    decoder_free(o->decoder);
    latency_end(&o->latency);
    announced_free(o->announced);
    scripts_free(o->scripts);
    pathmap_close(o->map);
    learner_free(o->learner);
    processes_free(o->processes);
    table_free(o->last);
    free(o->path);
    free(o);
}

const struct trie *online_trie(const struct online *o)
{
    return o->learner->trie;
}
