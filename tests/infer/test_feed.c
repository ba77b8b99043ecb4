/* Records that are handed to another thread while they come. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "infer/live/feed.h"

enum { FIRST_ID = 7, SECOND_ID = 8, SECONDS = 10 };

static uint64_t ids[] = {FIRST_ID, SECOND_ID};
#define FIELDS                                                                                               \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)
static struct event events[] = {
    {.attr = {.sample_type = FIELDS}, .ids = &ids[0], .id_count = 1},
    {.attr = {.sample_type = FIELDS}, .ids = &ids[1], .id_count = 1},
};

/* A record of the first event belongs with the next sample. */
static enum feed_choice choose(void *context, const struct event *event, size_t queued)
{
    (void)context, (void)queued;
    return event == &events[0] ? FEED_HOLD : FEED_TAKE;
}

struct taker {
    const uint8_t *held; /* raw bytes of the last record of the first event */
    atomic_int firsts, pairs, spoilt;
    int fail_at; /* this pair; 0: none */
};

static int take(void *context, struct processes *processes, const struct record *record,
                struct fathom_error *err)
{
    struct taker *t = context;
    (void)processes;
    if (record->kind != RECORD_SAMPLE)
        return 0;
    if (record->sample.event == 0) {
        t->held = record->sample.raw;
        t->firsts++;
        return 0;
    }
    bool pair = t->held && memcmp(t->held, record->sample.raw, 8) == 0;
    t->pairs += pair;
    t->spoilt += !pair;
    t->held = NULL;
    return t->fail_at && t->pairs == t->fail_at ? error_set(err, EIO, "as it was asked to") : 0;
}

static int add(struct feed *feed, uint64_t id, uint64_t text, struct fathom_error *err)
{
    struct {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time;
        uint32_t raw_size;
        uint8_t raw[2012];
    } r = {
        .header = {PERF_RECORD_SAMPLE, 0, sizeof r}, .id = id, .pid = 1, .tid = 1, .raw_size = sizeof r.raw};
    static uint64_t time;
    r.time = time += id == FIRST_ID; /* both have the same */
    memcpy(r.raw, &text, sizeof text);
    return feed_add(feed, &r, sizeof r, err);
}

static struct feed *start(struct taker *taker)
{
    struct feed *feed;
    struct fathom_error err;
    cr_assert_eq(feed_start(
                     &(struct feed_input){
                         .events = events, .count = 2, .choose = choose, .take = take, .context = taker},
                     &feed, &err),
                 0, "%s", err.text);
    return feed;
}

static bool comes(atomic_int *count, int wanted)
{
    for (int i = 0; i < SECONDS * 1000 && *count != wanted; i++)
        usleep(1000);
    return *count == wanted;
}

Test(feed, a_record_that_is_held_stays_until_the_next_sample)
{
    struct taker taker = {0};
    struct feed *feed = start(&taker);
    for (int i = 1; i <= 200; i++) {
        cr_assert_eq(add(feed, FIRST_ID, (uint64_t)i, NULL), 0);
        if (i % 5 == 0) {
            usleep(2000); /* for the thread to take it, were it not held */
            cr_expect_lt(taker.firsts, i);
        }
        cr_assert_eq(add(feed, SECOND_ID, (uint64_t)i, NULL), 0);
    }
    cr_expect(comes(&taker.pairs, 200), "%d", taker.pairs);
    cr_expect_eq(taker.spoilt, 0);
    feed_stop(feed, NULL);
}

Test(feed, the_threads_error_is_told_once)
{
    struct taker taker = {.fail_at = 1};
    struct feed *feed = start(&taker);
    struct fathom_error err;
    int rc = add(feed, FIRST_ID, 1, NULL);
    cr_assert_eq(rc, 0);
    for (int i = 0; i < SECONDS * 1000 && rc == 0; i++, usleep(1000))
        rc = add(feed, i % 2 ? FIRST_ID : SECOND_ID, 1, &err);
    cr_assert_eq(rc, -EIO);
    cr_expect_str_eq(err.text, "as it was asked to");
    cr_expect_eq(add(feed, SECOND_ID, 1, NULL), 0);
    cr_expect_eq(taker.pairs, 1, "nothing more is taken");
    feed_stop(feed, NULL);
}
