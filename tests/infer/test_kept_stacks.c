/* Stacks that one recording leaves to the next: what is added, as it comes back, through a file and with other numbers. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "infer/live/kept_stacks.h"
#include "perfdata/walks.h"

enum { PROGRAM, LIBRARY, FILES };

#define BASE UINT64_C(0x7ffd00010000)

static struct file_numbers *numbers;
static struct kept_stacks *kept;
static const struct numbered_file files[FILES] = {{"/bin/it", {3, {1, 2, 3}}, 0x1000, 7},
                                                  {"/lib/more", {2, {4, 5}}, 0, 9}};
static struct stack_place places[FILES];

static void start(void)
{
    numbers = file_numbers_new();
    kept = kept_stacks_new();
    cr_assert(numbers && kept);
    for (uint32_t i = 0; i < FILES; i++) {
        const uint64_t at = UINT64_C(0x555500000000) + i * UINT64_C(0x2000000000);
        places[i] =
            (struct stack_place){at + 0x1000, at + 0x100000, at, file_numbers_put(numbers, &files[i])};
        cr_assert_neq(places[i].number, 0u);
    }
}

static void end(void)
{
    kept_stacks_free(kept);
    file_numbers_free(numbers);
}

TestSuite(kept_stacks, .init = start, .fini = end);

/* A stack of a leaf in the library, called by the program's function at this offset: three frames, of 0x40 bytes, 0x60 and the rest. */
struct example {
    struct unwind_frame frames[3];
    struct stack_word words[3];
    struct known_stack known;
};

static void make(struct example *e, uint64_t caller, uint64_t depth)
{
    const uint64_t sp = BASE - depth, main_at = places[PROGRAM].at + 0x2040,
                   from = places[PROGRAM].at + caller;
    *e = (struct example){.frames = {{.pc = places[LIBRARY].at + 0x5678, .cfa = sp + 0x40},
                                     {.pc = from, .cfa = sp + 0xa0},
                                     {.pc = main_at, .cfa = BASE + 8, .derived = true}},
                          .words = {{.address = sp + 0x38, .low = from - 4, .value = from, .size = 16},
                                    {.address = sp + 0x90,
                                     .low = BASE - 16,
                                     .value = BASE - 16,
                                     .size = 1,
                                     .in_stack = true,
                                     .is_bp = true},
                                    {.address = sp + 0x98, .low = main_at, .value = main_at, .size = 1}},
                          .known = {.sp = sp,
                                    .base = BASE,
                                    .ip = places[LIBRARY].at + 0x5678,
                                    .code = places[LIBRARY].at + 0x5600,
                                    .code_size = 0x100,
                                    .reg = 7,
                                    .value = BASE - 0x30,
                                    .count = 3,
                                    .places = places,
                                    .place_count = FILES}};
    e->known.words = e->words;
}

/* Its caller's: two frames, and the words of these. */
static struct known_stack caller_of(struct example *e)
{
    struct known_stack known = e->known;
    known.of_caller = true;
    known.sp += 0x40;
    known.ip = known.code = e->frames[1].pc;
    known.code_size = known.reg = 0;
    known.words = e->words + 1;
    known.count = 2;
    return known;
}

static void add(struct example *e)
{
    const struct known_stack caller = caller_of(e);
    size_t own, callers;
    cr_assert_eq(kept_stacks_add(kept, numbers, &e->known, e->frames, 3, KEPT_STACKS_MOST, &own), 0);
    cr_assert_eq(kept_stacks_add(kept, numbers, &caller, e->frames + 1, 2, own, &callers), 0);
    cr_expect(own == KEPT_STACKS_MOST || callers > own);
}

/* What is kept is as it was added, in places of the numbers. */
static void expect_stack(struct kept_stacks *k, const struct file_numbers *by, size_t index,
                         const struct known_stack *want, size_t want_callee)
{
    struct known_stack got;
    size_t callee;
    cr_assert(kept_stacks_at(k, index, &got, &callee));
    cr_expect_eq(callee, want_callee);
    cr_expect_eq(got.of_caller, want->of_caller);
    cr_expect_eq(got.base - got.sp, want->base - want->sp);
    cr_expect_eq(got.ip - got.code, want->ip - want->code);
    cr_expect_eq(got.code_size, want->code_size);
    cr_expect_eq(got.reg, want->reg);
    cr_expect(!want->reg || got.base - got.value == want->base - want->value);
    cr_assert_eq(got.count, want->count);
    for (size_t i = 0; i < got.count; i++) {
        const struct stack_word *a = &got.words[i], *b = &want->words[i];
        cr_expect_eq(got.base - a->address, want->base - b->address, "word %zu", i);
        cr_expect_eq(a->size, b->size);
        cr_expect_eq(a->in_stack, b->in_stack);
        if (a->in_stack) {
            cr_expect_eq(got.base - a->low, want->base - b->low);
            continue;
        }
        const struct stack_place *in = stack_place_of(got.places, got.place_count, a->low),
                                 *was = stack_place_of(places, FILES, b->low);
        cr_assert(in && was);
        cr_expect_eq(a->low - in->at, b->low - was->at);
        cr_expect(build_id_equal(&file_numbers_at(by, in->number)->id, &files[was - places].id));
    }
}

static void expect_frames(const struct kept_stacks *k, size_t index, const struct unwind_frame *want,
                          size_t count)
{
    static struct kept_frame got[UNWIND_MAX_FRAMES];
    cr_assert_eq(kept_stacks_frames(k, index, got), count);
    for (size_t i = 0; i < count; i++) {
        const struct stack_place *place = stack_place_of(places, FILES, want[i].pc - (i > 0));
        cr_expect_eq(got[i].offset, want[i].pc - place->at, "frame %zu", i);
        cr_expect(build_id_equal(&got[i].file->id, &files[place - places].id));
        cr_expect_eq(got[i].file->adjust, files[place - places].adjust);
        cr_expect_eq(BASE - (uint64_t)(int64_t)got[i].height, want[i].cfa);
        cr_expect_eq(got[i].marks, want[i].derived ? WALKED_DERIVED : 0);
    }
}

static uint64_t trust_all(const struct numbered_file *file)
{
    return strlen(file->path);
}

static uint64_t trust_another(const struct numbered_file *file)
{
    return 1000 + strlen(file->path);
}

static uint64_t trust_program(const struct numbered_file *file)
{
    return strcmp(file->path, files[PROGRAM].path) == 0 ? trust_all(file) : 0;
}

static struct kept_stacks *through_a_file(void)
{
    struct kept_stacks *read;
    void *data;
    size_t size, written;
    cr_assert_eq(kept_stacks_write(kept, trust_all, &data, &size, &written), 0);
    cr_assert_eq(kept_stacks_read(data, size, trust_all, &read), 0);
    free(data);
    return read;
}

Test(kept_stacks, come_back_as_they_were)
{
    struct example a, b;
    make(&a, 0x3000, 0x400);
    make(&b, 0x4000, 0x400);
    add(&a);
    add(&b);
    add(&a);
    cr_expect_eq(kept_stacks_count(kept), 4u, "one that is there is not added again");
    const struct known_stack of_a = caller_of(&a), of_b = caller_of(&b);
    struct kept_stacks *again = through_a_file();
    struct file_numbers *others = file_numbers_new();
    file_numbers_put(others, &(struct numbered_file){"/bin/other", {1, {9}}, 0, 0});
    cr_assert_eq(kept_stacks_number(again, others), 0);
    cr_expect_eq(kept_stacks_file(again, files[LIBRARY].path, &files[LIBRARY].id),
                 file_numbers_put(others, &files[LIBRARY]));
    cr_expect_eq(kept_stacks_file(again, files[PROGRAM].path, &files[LIBRARY].id), 0u);
    struct kept_stacks *const both[] = {kept, again};
    for (int i = 0; i < 2; i++) {
        const struct file_numbers *by = i ? others : numbers;
        expect_stack(both[i], by, 0, &a.known, KEPT_STACKS_MOST);
        expect_stack(both[i], by, 1, &of_a, 0);
        expect_stack(both[i], by, 2, &b.known, KEPT_STACKS_MOST);
        expect_stack(both[i], by, 3, &of_b, 2);
        expect_frames(both[i], 0, a.frames, 3);
        expect_frames(both[i], 3, b.frames + 1, 2);
    }
    kept_stacks_free(again);
    file_numbers_free(others);
}

/* Further ones are added to what a file had. */
Test(kept_stacks, grow_from_one_recording_to_the_next)
{
    struct example a, b;
    make(&a, 0x3000, 0x400);
    make(&b, 0x3000, 0x500);
    add(&a);
    struct kept_stacks *first = kept;
    kept = through_a_file();
    kept_stacks_free(first);
    cr_assert_eq(kept_stacks_number(kept, numbers), 0);
    add(&a);
    cr_expect_eq(kept_stacks_count(kept), 2u);
    add(&b);
    cr_expect_eq(kept_stacks_count(kept), 4u);
    expect_stack(kept, numbers, 2, &b.known, KEPT_STACKS_MOST);
}

static void expect_not_kept(struct example *e)
{
    add(e);
    cr_expect_eq(kept_stacks_count(kept), 0u, "nor is its caller's");
    cr_expect_not(kept_stacks_changed(kept));
}

Test(kept_stacks, what_is_known_elsewhere_only_by_chance_is_left_out)
{
    struct example e;
    make(&e, 0x3000, 0x400);
    e.known.base = 0;
    expect_not_kept(&e);
    make(&e, 0x3000, 0x400);
    e.known.cut = 0x300;
    expect_not_kept(&e);
    make(&e, 0x3000, 0x400);
    e.known.switch_at = 0x100;
    expect_not_kept(&e);
    make(&e, 0x3000, 0x400);
    e.words[0].low = 0x1234; /* code in no file */
    expect_not_kept(&e);
    make(&e, 0x3000, 0x400);
    e.frames[2].pc = 0x1234;
    expect_not_kept(&e);
}

/* As many as there may be, and where few more fit, those that no sample had make room. */
Test(kept_stacks, unused_ones_make_room)
{
    struct example e;
    for (uint64_t i = 0; i < KEPT_STACKS_MOST; i++) {
        make(&e, 0x3000 + 16 * (i % 256), 0x400 + 16 * (i / 256));
        size_t index;
        cr_assert_eq(kept_stacks_add(kept, numbers, &e.known, e.frames, 3, KEPT_STACKS_MOST, &index), 0);
        cr_assert_eq(index, i);
    }
    cr_expect_eq(kept_stacks_count(kept), (size_t)KEPT_STACKS_MOST);
    make(&e, 0x8000, 0x400);
    add(&e);
    cr_expect_eq(kept_stacks_count(kept), (size_t)KEPT_STACKS_MOST);
    struct kept_stacks *first = kept;
    kept = through_a_file();
    kept_stacks_free(first);
    cr_expect_eq(kept_stacks_count(kept), (size_t)KEPT_STACKS_MOST, "all were new");
    cr_expect_not(kept_stacks_changed(kept));
    kept_stacks_use(kept, 77);
    cr_expect(kept_stacks_changed(kept));
    struct kept_stacks *last = through_a_file();
    cr_expect_eq(kept_stacks_count(last), (size_t)KEPT_STACKS_MOST * 3 / 4,
                 "the oldest of the others made room");
    cr_assert_eq(kept_stacks_number(last, numbers), 0);
    make(&e, 0x3000 + 16 * 77, 0x400);
    expect_stack(last, numbers, 0, &e.known, KEPT_STACKS_MOST);
    expect_frames(last, 0, e.frames, 3);
    kept_stacks_free(last);
}

/* Of a stack with a leaf in a file that is not trusted, its caller's alone. */
Test(kept_stacks, only_what_is_trusted_is_written)
{
    struct example e;
    struct kept_stacks *read;
    void *data;
    size_t size, written;
    make(&e, 0x3000, 0x400);
    add(&e);
    cr_assert_eq(kept_stacks_write(kept, trust_program, &data, &size, &written), 0);
    cr_assert_eq(kept_stacks_read(data, size, trust_all, &read), 0);
    cr_expect_eq(kept_stacks_count(read), 1u);
    cr_assert_eq(kept_stacks_number(read, numbers), 0);
    struct known_stack caller = caller_of(&e);
    caller.of_caller = false;
    expect_stack(read, numbers, 0, &caller, KEPT_STACKS_MOST);
    expect_frames(read, 0, e.frames + 1, 2);
    kept_stacks_free(read);
    free(data);
}

Test(kept_stacks, of_a_file_that_is_another_now_nothing_is_taken)
{
    struct example e;
    struct kept_stacks *read;
    void *data;
    size_t size, written;
    make(&e, 0x3000, 0x400);
    add(&e);
    cr_assert_eq(kept_stacks_write(kept, trust_all, &data, &size, &written), 0);
    cr_expect_eq(written, 2u);
    cr_expect_eq(kept_stacks_read(data, size, trust_another, &read), -ESTALE);
    free(data);
}

Test(kept_stacks, damage_is_found)
{
    struct example e;
    struct kept_stacks *read = NULL;
    void *data;
    size_t size, written;
    make(&e, 0x3000, 0x400);
    add(&e);
    cr_assert_eq(kept_stacks_write(kept, trust_all, &data, &size, &written), 0);
    uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x41;
        cr_expect_eq(kept_stacks_read(bytes, size, trust_all, &read), -EBADMSG, "byte %zu", i);
        cr_expect_eq(kept_stacks_read(bytes, i, trust_all, &read), -EBADMSG);
        bytes[i] ^= 0x41;
    }
    free(data);
}

/* With a sum that holds, too. */
Test(kept_stacks, damage_that_the_sum_does_not_tell)
{
    struct example e;
    void *data;
    size_t size, written, good = 0;
    make(&e, 0x3000, 0x400);
    add(&e);
    cr_assert_eq(kept_stacks_write(kept, trust_all, &data, &size, &written), 0);
    uint8_t *bytes = data;
    for (size_t i = 16; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct kept_stacks *read;
            struct known_stack stack;
            size_t callee;
            bytes[i] ^= (uint8_t)(1 << bit);
            const uint64_t sum = checksum_of(bytes + 16, size - 16);
            memcpy(bytes + 8, &sum, sizeof sum);
            const int rc = kept_stacks_read(bytes, size, trust_all, &read);
            cr_expect(rc == 0 || rc == -EBADMSG || rc == -ESTALE);
            bytes[i] ^= (uint8_t)(1 << bit);
            if (rc < 0)
                continue;
            good++;
            cr_assert_eq(kept_stacks_number(read, numbers), 0);
            for (size_t k = 0; k < kept_stacks_count(read); k++)
                cr_expect(kept_stacks_at(read, k, &stack, &callee));
            kept_stacks_free(read);
        }
    }
    cr_expect_gt(good, 0u);
    free(data);
}
