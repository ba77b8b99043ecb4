/* Walks of stacks as records have them: written, and read by another that saw the same records. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "perfdata/stack_record.h"
#include "perfdata/walks.h"

#define DEEP 200

static struct walks *writer, *reader;
static struct walked_frame frames[DEEP];
static uint8_t part[65536];

static void start(void)
{
    writer = walks_new();
    reader = walks_new();
    for (size_t i = 0; i < DEEP; i++)
        frames[i] = (struct walked_frame){0x7f0000401000 + 0x1234567 * (i % 7), 0x7ffffffff000 - 48 * i, 0};
}

static void stop(void)
{
    walks_free(writer);
    walks_free(reader);
}

TestSuite(walks, .init = start, .fini = stop);

static struct walked of(size_t count)
{
    return (struct walked){frames, count, 0x401234, true, 64, 2, count % 2};
}

static void expect_equal(const struct walked *a, const struct walked *b)
{
    cr_assert_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        cr_expect_eq(a->frames[i].pc, b->frames[i].pc);
        cr_expect_eq(a->frames[i].cfa, b->frames[i].cfa);
        cr_expect_eq(a->frames[i].marks, b->frames[i].marks, "frame %zu", i);
    }
    cr_expect_eq(a->end, b->end);
    cr_expect_eq(a->switch_at, b->switch_at);
    cr_expect_eq(a->has_back, b->has_back);
    cr_expect_eq(a->back, b->back);
    cr_expect_eq(a->kept, b->kept);
}

static size_t pass(uint32_t tid, uint64_t time, uint32_t number, const struct walked *walked)
{
    struct walked read;
    size_t size = walks_write(writer, tid, time, number, walked, part, sizeof part);
    cr_assert(size);
    cr_assert_eq(size % 8, 0);
    cr_assert_eq(walks_read(reader, tid, number, part, size, &read), 1);
    expect_equal(&read, walked);
    return size;
}

Test(walks, come_back_as_they_were)
{
    struct walked walked = of(DEEP);
    frames[3].marks = WALKED_DERIVED;
    frames[DEEP - 1].marks = WALKED_INTERRUPTED | WALKED_DERIVED;
    frames[7].pc = UINT64_MAX;
    frames[8] = (struct walked_frame){1, UINT64_MAX, 0};
    pass(1, 10, 1, &walked);
    walked = of(0);
    walked.has_back = false;
    walked.end = 0;
    pass(1, 11, 2, &walked);
    walked = of(1);
    pass(1, 12, 3, &walked);
}

/* The next stack of a thread is written as what is new in it. */
Test(walks, share_outer_frames)
{
    struct walked walked = of(100);
    const size_t whole = pass(1, 10, 1, &walked);
    frames[98].pc++;
    frames[99].marks = WALKED_INTERRUPTED;
    const size_t next = pass(1, 11, 2, &walked);
    cr_expect_lt(next, sizeof(struct stack_frames) + 24);
    cr_expect_gt(whole, 5 * next);
    walked = of(90);
    cr_expect_eq(pass(1, 12, 3, &walked), sizeof(struct stack_frames));
    cr_expect_gt(pass(2, 13, 4, &walked), whole / 2, "another thread has nothing to share");
    walked = of(100);
    cr_expect_lt(pass(1, 14, 5, &walked), whole / 2);
}

/* Of many threads too: a stack refers to the one before it of its own thread, and so it is read whatever else a reader keeps. */
Test(walks, of_many_threads)
{
    enum { THREADS = 3000, TIMES = 3 };
    static uint32_t last[THREADS];
    const struct walked walked = of(20);
    struct stack_frames head;
    uint32_t number = 0, referring = 0;
    for (uint32_t i = 0; i < THREADS * TIMES; i++) {
        const uint32_t tid = i / TIMES % 2 ? i % THREADS : i / TIMES;
        cr_assert(walks_write(writer, 1 + tid, 1 + i, ++number, &walked, part, sizeof part));
        memcpy(&head, part, sizeof head);
        referring += head.outer != 0;
        cr_assert(head.outer == 0 || head.outer == last[tid], "of another thread");
        last[tid] = number;
    }
    cr_expect_gt(referring, THREADS);
}

/* A stack that comes late is so, too, if another thread's was written meanwhile: nothing refers to it. */
Test(walks, late_behind_others)
{
    const struct walked walked = of(100);
    struct stack_frames head;
    cr_assert(walks_write(writer, 1, 10, 1, &walked, part, sizeof part));
    for (uint32_t tid = 2; tid < 20000; tid++)
        cr_assert(walks_write(writer, tid, 11, tid, &walked, part, sizeof part));
    cr_assert(walks_write(writer, 1, 5, 20000, &walked, part, sizeof part));
    memcpy(&head, part, sizeof head);
    cr_expect(head.flags & STACK_FRAMES_LATE);
    cr_expect_eq(head.outer, 0);
}

/* A record that is lost makes unknown what refers to it, and no more than WALKS_CHAIN stacks. */
Test(walks, lost)
{
    struct walked walked = of(100), read;
    size_t unknown = 0, known = 0;
    for (uint32_t i = 1; i <= 200; i++) {
        frames[99].pc = i;
        size_t size = walks_write(writer, 1, i, i, &walked, part, sizeof part);
        cr_assert(size);
        if (i == 5)
            continue;
        int rc = walks_read(reader, 1, i, part, size, &read);
        unknown += rc == 0;
        known += rc == 1;
        if (rc == 1)
            expect_equal(&read, &walked);
    }
    cr_expect_gt(unknown, 0);
    cr_expect_leq(unknown, WALKS_CHAIN);
    cr_expect_eq(known + unknown, 199);
}

/* Records are read by their times. One that was written after a later one is read before it. */
Test(walks, late)
{
    struct walked walked = of(100), read;
    static uint8_t later[65536], late[65536];
    pass(1, 10, 1, &walked);
    frames[99].pc = 7;
    const size_t later_size = walks_write(writer, 1, 30, 3, &walked, later, sizeof later);
    frames[99].pc = 8;
    const size_t late_size = walks_write(writer, 1, 20, 2, &walked, late, sizeof late);
    cr_assert(later_size && late_size);
    cr_assert_eq(walks_read(reader, 1, 2, late, late_size, &read), 1);
    expect_equal(&read, &walked);
    cr_assert_eq(walks_read(reader, 1, 3, later, later_size, &read), 1);
    frames[99].pc = 7;
    expect_equal(&read, &walked);
    frames[99].pc = 9;
    cr_expect_lt(pass(1, 40, 4, &walked), late_size / 2);
}

Test(walks, no_room)
{
    struct walked walked = of(100);
    const size_t size = walks_write(writer, 1, 1, 1, &walked, part, sizeof part);
    for (size_t room = 0; room < size; room += 8)
        cr_expect_eq(walks_write(writer, 2, 1, 1, &walked, part, room), 0);
}

/* Any bytes are refused, or read. */
Test(walks, damaged)
{
    struct walked walked = of(100), read;
    frames[50].marks = 1;
    uint64_t random = 1;
    for (uint32_t i = 1; i < 20000; i++) {
        frames[hash_random(&random) % 100].pc++;
        size_t size = walks_write(writer, i % 3, i, i, &walked, part, sizeof part);
        cr_assert(size);
        part[hash_random(&random) % size] ^= (uint8_t)(1 << hash_random(&random) % 8);
        if (i % 2)
            size = hash_random(&random) % size;
        uint8_t *exact = malloc(size + 1);
        memcpy(exact, part, size);
        int rc = walks_read(reader, i % 3, i, exact, size, &read);
        cr_assert(rc == 0 || rc == -EBADMSG || (rc == 1 && read.count <= STACK_FRAMES_MAX));
        for (size_t k = 0; rc == 1 && k < read.count; k++)
            random += read.frames[k].pc;
        free(exact);
    }
}
