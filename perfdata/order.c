/*
 * order.c - the queue of order.h: an array of (time, place), sorted once per round.
 *
 * The records of a round form a few ascending runs, one per ring, so a merge sort that starts from existing runs needs n *
 * log2(rings) steps and is stable. The records that a round leaves in the queue form one more run, at the front. All of these
 * were pushed in that round, as earlier ones are not younger than the limit.
 */
#include "perfdata/order.h"

#include <stdlib.h>

#include "base/vec.h"
#include "perfdata/format.h"
#include "perfdata/layout.h"

#define BLOCK_BYTES (256 * 1024) /* of copied records; more than the largest record */

struct entry {
    uint64_t time;
    const uint8_t *data; /* its size is in its header */
};

struct block { /* of copied records */
    struct block *next;
    size_t used; /* bytes */
    uint64_t bytes[BLOCK_BYTES / 8];
};

struct order {
    const struct decoder *decoder;
    order_sink *sink;
    void *context;
    struct entry *entries, *spare; /* spare: the sort's other buffer, of spare_capacity entries */
    size_t count, capacity, spare_capacity;
    uint64_t youngest; /* time of all pushed so far */
    uint64_t limit;    /* youngest at the end of the previous round */
    uint64_t damaged;
    bool copy;
    struct block *current; /* filled in this round, newest first */
    struct block *before;  /* filled in the previous round */
    struct block *unused;
};

struct order *order_new(const struct decoder *decoder, bool copy, order_sink *sink, void *context)
{
    struct order *order = calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->decoder = decoder;
    order->copy = copy;
    order->sink = sink;
    order->context = context;
    return order;
}

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

void order_free(struct order *order)
{
    if (!order)
        return;
    free_blocks(order->current);
    free_blocks(order->before);
    free_blocks(order->unused);
    free(order->entries);
    free(order->spare);
    free(order);
}

uint64_t order_damaged(const struct order *order)
{
    return order->damaged;
}

/* Frees all blocks of a list for reuse. */
static void reuse_blocks(struct order *order, struct block **list)
{
    while (*list) {
        struct block *block = *list;
        *list = block->next;
        block->next = order->unused;
        order->unused = block;
    }
}

static const uint8_t *copy_record(struct order *order, const void *data, size_t size)
{
    size_t padded = (size + 7) & ~(size_t)7;
    struct block *block = order->current;
    if (!block || BLOCK_BYTES - block->used < padded) {
        block = order->unused;
        if (block)
            order->unused = block->next;
        else
            block = malloc(sizeof *block);
        if (!block)
            return NULL;
        block->used = 0;
        block->next = order->current;
        order->current = block;
    }
    uint8_t *at = (uint8_t *)block->bytes + block->used;
    memcpy(at, data, size);
    block->used += padded;
    return at;
}

static int deliver_record(struct order *order, const uint8_t *data, size_t size, struct fathom_error *err)
{
    struct record record;
    if (decoder_fill(order->decoder, data, size, &record, NULL) < 0) {
        order->damaged++;
        return 0;
    }
    return order->sink(order->context, &record, err);
}

static int push_record(struct order *order, const uint8_t *data, size_t size, bool copy,
                       struct fathom_error *err)
{
    if (size < RECORD_HEADER_SIZE || load_u16(data + 6) != size) {
        order->damaged++;
        return 0;
    }
    uint64_t time = decoder_time(order->decoder, data, size);
    if (copy) {
        data = copy_record(order, data, size);
        if (!data)
            return error_memory(err);
    }
    if (!time) {
        if (copy) /* its space can be reused */
            order->current->used = (size_t)(data - (uint8_t *)order->current->bytes);
        return deliver_record(order, data, size, err);
    }
    if (!vec_push(order->entries, order->count, order->capacity, (struct entry){time, data}))
        return error_memory(err);
    if (time > order->youngest)
        order->youngest = time;
    return 0;
}

int order_push(struct order *order, const void *data, size_t size, struct fathom_error *err)
{
    return push_record(order, data, size, order->copy || (uintptr_t)data % 8, err);
}

int order_push_copy(struct order *order, const void *data, size_t size, struct fathom_error *err)
{
    return push_record(order, data, size, true, err);
}

/* The end of the ascending run that starts at `at`. */
static size_t run_end(const struct entry *entries, size_t at, size_t count)
{
    if (at == count)
        return count;
    do
        at++;
    while (at < count && entries[at - 1].time <= entries[at].time);
    return at;
}

/* Merges the adjacent runs [a, b) and [b, end) to the same place in `to`. */
static void merge_runs(const struct entry *from, size_t a, size_t b, size_t end, struct entry *to)
{
    size_t left = a, right = b, out = a;
    while (left < b && right < end)
        to[out++] = from[right].time < from[left].time ? from[right++] : from[left++];
    memcpy(to + out, from + left, (b - left) * sizeof *to);
    out += b - left;
    memcpy(to + out, from + right, (end - right) * sizeof *to);
}

/* A stable natural merge sort of all entries. */
static int sort_entries(struct order *order, struct fathom_error *err)
{
    const size_t count = order->count;
    if (run_end(order->entries, 0, count) == count)
        return 0;
    if (order->spare_capacity < count) {
        free(order->spare);
        order->spare = calloc(order->capacity, sizeof *order->spare);
        order->spare_capacity = order->spare ? order->capacity : 0;
        if (!order->spare)
            return error_memory(err);
    }
    size_t first_end;
    do {
        first_end = 0;
        for (size_t at = 0; at < count;) {
            size_t middle = run_end(order->entries, at, count);
            size_t end = run_end(order->entries, middle, count);
            merge_runs(order->entries, at, middle, end, order->spare);
            if (!first_end)
                first_end = end;
            at = end;
        }
        struct entry *sorted = order->spare;
        size_t capacity = order->spare_capacity;
        order->spare = order->entries;
        order->spare_capacity = order->capacity;
        order->entries = sorted;
        order->capacity = capacity;
    } while (first_end < count);
    return 0;
}

/* Delivers, in order, all records up to time `limit`. */
static int deliver_until(struct order *order, uint64_t limit, struct fathom_error *err)
{
    if (order->count == 0)
        return 0;
    int rc = sort_entries(order, err);
    if (rc < 0)
        return rc;
    size_t done = 0;
    while (rc >= 0 && done < order->count && order->entries[done].time <= limit) {
        const uint8_t *data = order->entries[done++].data;
        rc = deliver_record(order, data, load_u16(data + 6), err);
    }
    order->count -= done;
    memmove(order->entries, order->entries + done, order->count * sizeof *order->entries);
    return rc < 0 ? rc : 0;
}

int order_round(struct order *order, struct fathom_error *err)
{
    int rc = deliver_until(order, order->limit, err);
    if (rc < 0)
        return rc;
    order->limit = order->youngest;
    reuse_blocks(order, &order->before);
    order->before = order->current;
    order->current = NULL;
    return 0;
}

int order_flush(struct order *order, struct fathom_error *err)
{
    int rc = deliver_until(order, UINT64_MAX, err);
    if (rc < 0)
        return rc;
    reuse_blocks(order, &order->before);
    reuse_blocks(order, &order->current);
    return 0;
}

int order_push_all(void *sorter, const void *records, size_t size, struct fathom_error *err)
{
    struct order *order = sorter;
    const char *at = records, *end = at + size;
    int rc = 0;
    while (rc == 0 && at < end) {
        const struct perf_event_header *header = (const void *)at;
        rc = header->type == USER_FINISHED_ROUND ? order_round(order, err)
                                                 : order_push(order, at, header->size, err);
        at += header->size;
    }
    return rc;
}
