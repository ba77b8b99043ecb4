/*
 * replay.c - a recording through ring buffers and their draining into the contexts of `fathom top`:
 * "replay FILE MAP RINGS KIB MS". All processes' records go to ring 0, each thread's samples to one of RINGS rings of KIB
 * KiB, which are drained every MS ms of the recorded time; 0: after each record. MAP: "-" for none.
 *
 * Prints the totals, then the paths with their weights, as `fathom report --format folded`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collector/drain.h"
#include "image/name.h"
#include "infer/live/online.h"
#include "pathmap/map/trie.h"
#include "perfdata/head.h"
#include "perfdata/layout.h"
#include "tests/collector/fed_rings.h"

struct replay {
    struct head head;
    struct input input;
    struct decoder *decoder;
    struct counters *counters;
    struct online *online;
    struct batch batch;
    struct sideband to;
    struct collector_summary summary;
    struct drain drain;
    size_t rings;
    uint64_t pause, drained; /* ns of the recorded time */
    struct names *paths;
    struct table *weights; /* by path */
};

/* Like the names in reports. */
static size_t add_name(const struct trie *trie, uint32_t function, char *out, size_t size)
{
    uint64_t address;
    const char *name;
    struct build_id id;
    uint32_t image = trie_function_at(trie, function, &address, &name);
    int length = name_format(trie_image_path(trie, image, &id), name, address, out, size);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

static int count(void *replay, const struct online_context *context, struct fathom_error *err)
{
    struct replay *r = replay;
    static char path[65536];
    size_t used = 0;
    for (size_t i = 0; i < context->depth && used < sizeof path - 512; i++) {
        used += add_name(online_trie(r->online), context->functions[i], path + used, 500);
        path[used++] = ';';
    }
    path[used ? used - 1 : 0] = 0;
    if (context->certainty == CERTAINTY_UNKNOWN)
        snprintf(path, sizeof path, "[unknown context]");
    uint32_t number = names_intern(r->paths, path);
    uint64_t *weight = number == NAMES_NONE ? NULL : table_put(r->weights, number, NULL);
    if (!weight)
        return error_memory(err);
    *weight += context->sample->period;
    return 0;
}

static int resolve(void *replay, const void *records, size_t size, struct fathom_error *err)
{
    struct replay *r = replay;
    return online_add(r->online, records, size, err);
}

/* The ring of a record: the kernel has one for each CPU. */
static size_t ring_of(const struct replay *r, const uint8_t *data, size_t size)
{
    struct record record;
    if (load_u32(data) != PERF_RECORD_SAMPLE || decoder_decode(r->decoder, data, size, &record, NULL) < 0)
        return 0;
    return record.tid % r->rings;
}

static int feed(struct replay *r, struct fathom_error *err)
{
    uint64_t at = r->head.records;
    struct head_record record;
    int rc = 0;
    while (rc >= 0 && at < r->head.records_end) {
        rc = head_next(&r->head, &r->input, at, r->head.records_end, &record, err);
        if (rc < 0 || !record.step)
            break;
        uint64_t time = decoder_time(r->decoder, record.data, record.size);
        if (record.type < USER_HEADER_ATTR)
            fed_rings_put(r->counters, ring_of(r, record.data, record.size), record.data, record.size);
        if (time >= r->drained + r->pause) {
            rc = drain_round(&r->drain, NULL, err);
            r->drained = time;
        }
        at += record.step;
        input_pass(&r->input, at);
    }
    if (rc >= 0)
        rc = drain_round(&r->drain, NULL, err);
    if (rc >= 0)
        rc = drain_losses(&r->drain, err);
    for (int i = 0; i < 2 && rc >= 0; i++) /* so that no record waits for older ones */
        rc = sideband_round(&r->to, err);
    return rc < 0 ? rc : batch_flush(&r->batch, err);
}

static int open_all(struct replay *r, const char *path, size_t kib, struct fathom_error *err)
{
    int rc = input_open(path, &r->input, err);
    if (rc == 0)
        rc = head_read(&r->head, &r->input, path, err);
    if (rc == 0)
        rc = decoder_new(r->head.events, r->head.count, &r->decoder, err);
    if (rc == 0)
        rc = batch_init(&r->batch, err);
    if (rc < 0)
        return rc;
    struct layout layout;
    layout_of(&r->head.events[0].attr, &layout);
    r->counters = fed_rings_new(r->head.events, r->head.count, r->rings, kib << 10, layout.trailer_size);
    r->paths = names_new();
    r->weights = table_new();
    if (!r->counters || !r->paths || !r->weights)
        return error_memory(err);
    r->batch.sink = resolve;
    r->batch.context = r;
    r->to = (struct sideband){&r->batch, r->head.events[0].ids[0]};
    r->drain = (struct drain){.counters = r->counters,
                              .decoder = r->decoder,
                              .events = r->head.events,
                              .event_count = r->head.count,
                              .to = &r->to,
                              .summary = &r->summary};
    return drain_init(&r->drain, err);
}

static void print(const struct replay *r)
{
    struct online_summary o;
    uint64_t path, weight;
    online_summary(r->online, &o);
    printf("samples %llu\nweight %llu\nproved %llu\ninferred %llu\nlost %llu\nthrottled %llu\ndrained %llu\n",
           (unsigned long long)o.samples, (unsigned long long)o.weight, (unsigned long long)o.proved,
           (unsigned long long)o.inferred, (unsigned long long)o.lost,
           (unsigned long long)r->summary.throttled, (unsigned long long)r->summary.samples);
    for (size_t at = 0; table_next(r->weights, &at, &path, &weight);)
        printf("%s %llu\n", names_text(r->paths, (uint32_t)path), (unsigned long long)weight);
}

int main(int argc, char **argv)
{
    static struct replay r;
    static const struct log log;
    struct fathom_error err;
    struct pathmap *map = NULL;
    struct image_cache *images = image_cache_new(&(struct image_options){.log = &log});
    if (argc != 6 || !images || atoi(argv[3]) < 1) {
        fprintf(stderr, "usage: replay FILE MAP RINGS KIB MS\n");
        return 2;
    }
    r.rings = (size_t)atoi(argv[3]);
    r.pause = strtoull(argv[5], NULL, 10) * 1000000;
    int rc = open_all(&r, argv[1], (size_t)atoi(argv[4]), &err);
    if (rc == 0 && strcmp(argv[2], "-") != 0)
        rc = pathmap_open(argv[2], &map, &err);
    struct online_input input = {r.head.events, r.head.count, images, &log, map, {0}, count, &r};
    if (rc == 0)
        rc = online_new(&input, &r.online, &err);
    if (rc == 0)
        rc = feed(&r, &err);
    if (rc == 0)
        print(&r);
    else
        fprintf(stderr, "replay: %s\n", err.text);
    online_free(r.online);
    pathmap_close(map);
    drain_free(&r.drain);
    batch_free(&r.batch);
    fed_rings_free(r.counters);
    names_free(r.paths);
    table_free(r.weights);
    decoder_free(r.decoder);
    head_free(&r.head);
    input_close(&r.input);
    image_cache_free(images);
    return rc < 0;
}
