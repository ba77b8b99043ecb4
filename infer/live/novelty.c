/* novelty.c - see novelty.h. */
#include "infer/live/novelty.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "infer/live/feed.h"
#include "infer/samples/cid.h"

#define WINDOW      256        /* samples: the share is a moving average over about this many */
#define AT_ONCE     256        /* samples of one novelty_add() to look at, roughly; of more only some are */
#define QUEUE_BYTES (4u << 20) /* bytes waiting above which samples are dropped */
#define CIDS_MAX    (1u << 20) /* 32 MB; beyond that, all CIDs count as new again */

struct novelty {
    struct novelty_input in;
    struct feed *feed;
    uint64_t sampled, stride; /* samples of this novelty_add(); one in `stride` is looked at */
    struct table *read;       /* used by the thread only: CIDs with a dump */
    pthread_mutex_t lock;     /* protects `shares` */
    struct novelty_shares shares;
};

static void count_sample(struct novelty *n, bool is_new, uint64_t depth)
{
    pthread_mutex_lock(&n->lock);
    struct novelty_shares *s = &n->shares;
    size_t size = 0;
    while (size + 1 < n->in.size_count && depth > n->in.sizes[size])
        size++;
    s->samples++;
    double weight = 1.0 / (double)(s->samples < WINDOW ? s->samples : WINDOW);
    for (size_t i = 0; i < n->in.size_count; i++)
        s->shares[i] += ((is_new && i == size ? 1.0 : 0.0) - s->shares[i]) * weight;
    pthread_mutex_unlock(&n->lock);
}

/* Notes the CID of a dump that reaches the stack's base. */
static int note_cid(struct novelty *n, uint64_t key, struct fathom_error *err)
{
    if (table_count(n->read) >= CIDS_MAX) {
        struct table *fresh = table_new();
        if (!fresh)
            return error_memory(err);
        table_free(n->read);
        n->read = fresh;
    }
    return table_put(n->read, key, NULL) ? 0 : error_memory(err);
}

static int take_record(void *novelty, struct processes *processes, const struct record *record,
                       struct fathom_error *err)
{
    struct novelty *n = novelty;
    uint64_t base;
    if (record->kind != RECORD_SAMPLE)
        return 0;
    const struct sample *sample = &record->sample;
    const struct process *process = process_find(processes, sample->pid);
    struct cid cid = cid_of_sample(process, sample);
    if (cid.reason != UNKNOWN_NOT ||
        process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN)
        return 0;
    uint64_t depth = base - sample->sp;
    uint64_t key = hash_u64((uintptr_t)cid.place.image ^ hash_u64(cid.place.function)) ^ hash_u64(cid.height);
    if (!n->in.events[sample->event].audit)
        count_sample(n, !table_find(n->read, key), depth);
    else if (sample->stack_size >= depth)
        return note_cid(n, key, err);
    return 0;
}

/* Takes each dump, and as many of the other samples as are needed. */
static enum feed_choice choose_sample(void *novelty, const struct event *event, size_t queued)
{
    struct novelty *n = novelty;
    if (queued > QUEUE_BYTES)
        return FEED_LEAVE;
    return event->audit || n->sampled++ % n->stride == 0 ? FEED_TAKE : FEED_LEAVE;
}

static void clear_novelty(struct novelty *n)
{
    table_free(n->read);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

int novelty_start(const struct novelty_input *input, struct novelty **out, struct fathom_error *err)
{
    struct novelty *n = calloc(1, sizeof *n);
    if (!n)
        return error_memory(err);
    n->in = *input;
    n->stride = 1;
    pthread_mutex_init(&n->lock, NULL);
    n->read = table_new();
    int rc = n->read ? 0 : error_memory(err);
    if (rc == 0)
        rc = feed_start(&(struct feed_input){.events = input->events,
                                             .count = input->count,
                                             .choose = choose_sample,
                                             .take = take_record,
                                             .context = n},
                        &n->feed, err);
    if (rc < 0)
        clear_novelty(n);
    else
        *out = n;
    return rc;
}

int novelty_add(struct novelty *n, const void *records, size_t size, struct fathom_error *err)
{
    n->sampled = 0;
    int rc = feed_add(n->feed, records, size, err);
    n->stride = 1 + n->sampled / AT_ONCE;
    return rc;
}

void novelty_shares(struct novelty *n, struct novelty_shares *out)
{
    pthread_mutex_lock(&n->lock);
    *out = n->shares;
    pthread_mutex_unlock(&n->lock);
}

void novelty_stop(struct novelty *n)
{
    if (!n)
        return;
    feed_stop(n->feed, NULL);
    clear_novelty(n);
}
