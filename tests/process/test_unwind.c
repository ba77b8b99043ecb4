/* The unwinder on this program's own stack, against backtrace(3) of the same place. */
#include <criterion/criterion.h>

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/hash.h"
#include "image/code/code.h"
#include "image/stack_switch.h"
#include "process/partial.h"
#include "process/walked.h"
#include "tests/process/self.h"

#ifdef __clang__
#define APART __attribute__((noinline, optnone)) /* a frame of its own, by its own name */
#else
#define APART __attribute__((noipa))
#endif

enum { DUMP = 1 << 20, FRAMES = 4096 };

/* What one place saw of its stack. */
struct shot {
    struct sample sample;
    int traced; /* frames in trace */
    void *trace[FRAMES];
    uint8_t *dump; /* DUMP bytes */
};

/* Of the test that runs; a test has a process to itself. */
static struct shot *shot;
static struct self self;

static void shot_new(void)
{
    shot = calloc(1, sizeof *shot);
    shot->dump = malloc(DUMP);
    void *warm[2];
    backtrace(warm, 2); /* loads libgcc before the mappings are read */
}

static void shot_free(void)
{
    self_close(&self);
    free(shot->dump);
    free(shot);
}

APART static void shoot(void)
{
    SELF_CAPTURE(&shot->sample, shot->dump, DUMP);
    shot->traced = backtrace(shot->trace, FRAMES);
    /* A sanitizer's backtrace() shows itself first. */
    int own = 0;
    while (own < shot->traced && (uintptr_t)shot->trace[own] - (uintptr_t)shoot > 4096)
        own++;
    shot->traced -= own;
    memmove(shot->trace, shot->trace + own, (size_t)shot->traced * sizeof *shot->trace);
}

static const char *function_name(const struct place *place)
{
    if (place->function == IMAGE_NO_FUNCTION)
        return "?";
    const char *name = image_function(place->image, place->function)->name;
    return name ? name : "?";
}

/* A walk that a record has is read as the same frames, with nothing of the stack. */
static void expect_same_from_record(const struct sample *given, const struct unwind_frame *found,
                                    size_t count, enum unwind_end end)
{
    static struct walked_frame written[FRAMES];
    static struct unwind_frame again[FRAMES];
    struct sample sample = *given;
    struct walked walked;
    enum unwind_end how;
    uint64_t beyond = 0, told = 0;
    walked_make(given, found, count, end, written, &walked);
    sample.walk = &walked;
    cr_expect(walked_agrees(self.process, &sample, again));
    sample.stack = NULL;
    sample.stack_size = 0;
    cr_assert_eq(unwind_sample(self.process, &sample, again, FRAMES, &how), count);
    cr_expect_eq(how, end);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(again[i].pc, found[i].pc, "frame %zu", i);
        cr_assert_eq(again[i].cfa, found[i].cfa, "frame %zu", i);
        cr_assert_eq(again[i].place.image, found[i].place.image, "frame %zu", i);
        cr_assert_eq(again[i].place.address, found[i].place.address, "frame %zu", i);
        cr_assert_eq(again[i].place.function, found[i].place.function, "frame %zu", i);
        cr_assert_eq(again[i].interrupted, found[i].interrupted, "frame %zu", i);
        cr_assert_eq(again[i].derived, found[i].derived, "frame %zu", i);
    }
    if (count) {
        cr_expect_eq(walked_beyond(&sample, again, count, &beyond),
                     walked_beyond(given, found, count, &told));
        cr_expect_eq(beyond, told);
        written[0].cfa += 8;
        sample.stack = given->stack;
        sample.stack_size = given->stack_size;
        cr_expect_not(walked_agrees(self.process, &sample, again));
    }
}

/* All frames equal backtrace's but the first, whose PC is another of the same function. Returns their
 * number. */
static size_t expect_same_as_backtrace(struct unwind_frame *frames)
{
    enum unwind_end end;
    size_t count = unwind_sample(self.process, &shot->sample, frames, FRAMES, &end);
    cr_assert_eq(end, UNWIND_ROOT, "%s (%zu frames, in %s+%lx)", unwind_end_text(end), count,
                 count ? image_name(frames[count - 1].place.image) : "",
                 count ? frames[count - 1].place.address : 0);
    /* A sanitizer's backtrace() has a frame of its own in front. */
    size_t more = (size_t)shot->traced - count;
    cr_assert_leq(more, 1u, "%zu frames, backtrace has %d", count, shot->traced);
    for (size_t i = 1; i < count; i++) {
        struct place place;
        cr_assert(process_place(self.process, (uintptr_t)shot->trace[i + more], &place));
        cr_assert_eq(frames[i].place.image, place.image, "frame %zu", i);
        cr_assert_eq(frames[i].place.address, place.address, "frame %zu", i);
        cr_assert_gt(frames[i].cfa, frames[i - 1].cfa, "frame %zu", i);
    }
    cr_assert_str_eq(function_name(&frames[0].place), "shoot");
    expect_same_from_record(&shot->sample, frames, count, end);
    return count;
}

static size_t check(struct unwind_frame *frames)
{
    self = self_open();
    size_t count = expect_same_as_backtrace(frames);
    if (shot->sample.tid == shot->sample.pid) {
        /* The outermost frame alone tells the base that the kernel tells; knowing it changes nothing. */
        uint64_t base = 0;
        cr_assert_eq(unwind_base(frames, count, &base), STACK_OWN);
        cr_assert_eq(base, self.start_stack);
        self_set_stack(&self);
        cr_assert_eq(expect_same_as_backtrace(frames), count);
    }
    return count;
}

static struct unwind_frame frames[FRAMES];

APART static int plain(int n)
{
    shoot();
    return n + 1;
}

Test(unwind, plain_calls)
{
    shot_new();
    plain(1);
    check(frames);
    cr_expect_str_eq(function_name(&frames[1].place), "plain");
    shot_free();
}

APART static int with_alloca(size_t n)
{
    volatile char *capacity = alloca(n);
    capacity[0] = 1;
    shoot();
    return capacity[0];
}

Test(unwind, alloca_frames)
{
    shot_new();
    with_alloca(1000);
    check(frames);
    cr_expect_str_eq(function_name(&frames[1].place), "with_alloca");
    shot_free();
}

APART static int recurse(int n)
{
    volatile int local = n;
    if (n == 0)
        shoot();
    else
        local += recurse(n - 1);
    return local;
}

Test(unwind, deep_recursion)
{
    shot_new();
    recurse(2000);
    size_t count = check(frames);
    cr_expect_gt(count, 2001u);
    for (size_t i = 1; i <= 2001; i++)
        cr_assert_str_eq(function_name(&frames[i].place), "recurse");
    shot_free();
}

static int compare(const void *a, const void *b)
{
    if (!shot->traced)
        shoot();
    return *(const int *)a - *(const int *)b;
}

Test(unwind, callback_out_of_libc)
{
    int numbers[] = {3, 1, 2};
    shot_new();
    qsort(numbers, 3, sizeof numbers[0], compare);
    check(frames);
    cr_expect_str_eq(function_name(&frames[1].place), "compare");
    size_t at = 2;
    while (at < 8 && !strstr(image_name(frames[at].place.image), "libc.so"))
        at++; /* a sanitizer's qsort() calls libc's, or has its own */
    cr_expect(at == 2 || strstr(function_name(&frames[2].place), "qsort"), "%zu", at);
    shot_free();
}

static volatile sig_atomic_t passed;

static void on_signal(int signal)
{
    (void)signal;
    shoot();
}

static bool has_interrupted(size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (frames[i].interrupted)
            return true;
    }
    return false;
}

APART static void interrupted_here(void)
{
    passed = 1;
    __asm__ volatile("ud2\n\tnop"); /* the handler returns behind it */
    passed = 2;
}

static uint64_t interrupted_sp;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    interrupted_sp = (uint64_t)r[REG_RSP];
    shoot();
    r[REG_RIP] += 2;
}

Test(unwind, signal_handler_in_a_system_call)
{
    shot_new();
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    cr_expect(has_interrupted(check(frames)));
    shot_free();
}

Test(unwind, signal_handler_at_any_instruction)
{
    shot_new();
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
    interrupted_here();
    size_t count = check(frames);
    size_t at = 1;
    while (at < count && !frames[at].interrupted)
        at++;
    cr_assert_lt(at, count);
    cr_expect_str_eq(function_name(&frames[at].place), "interrupted_here");
    cr_expect_eq(frames[at - 1].cfa, interrupted_sp, "the restorer's CFA is the interrupted SP");
    shot_free();
}

/* Older recordings have the handler as a root. */
static void expect_signal_from_root(const struct sample *given, const struct unwind_frame *found,
                                    size_t count)
{
    static struct walked_frame written[FRAMES];
    static struct unwind_frame again[FRAMES];
    struct sample sample = *given;
    struct walked walked;
    enum unwind_end how;
    walked_make(given, found, count, UNWIND_ROOT, written, &walked);
    sample.walk = &walked;
    cr_expect_eq(unwind_sample(self.process, &sample, again, FRAMES, &how), count);
    cr_expect_eq(how, UNWIND_SIGNAL);
}

Test(unwind, alternate_stack_begins_with_the_handler)
{
    shot_new();
    stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGILL, &action, NULL);
    interrupted_here();
    self = self_open();
    enum unwind_end end;
    shot->sample.stack_size = (uint32_t)((uintptr_t)other.ss_sp + other.ss_size - shot->sample.sp);
    size_t count = unwind_sample(self.process, &shot->sample, frames, FRAMES, &end);
    cr_expect_eq(end, UNWIND_SIGNAL);
    cr_assert_eq(count, 2u);
    cr_expect_str_eq(function_name(&frames[1].place), "on_fault");
    expect_same_from_record(&shot->sample, frames, count, end);
    char text[PARTIAL_TEXT];
    partial_text(self.process, &shot->sample, frames, count, end, text);
    cr_expect_str_eq(text, "[signal on another stack]");
    expect_signal_from_root(&shot->sample, frames, count);
    shot_free();
}

static ucontext_t back, there;

static void coroutine(int n)
{
    recurse(n);
    swapcontext(&there, &back);
}

Test(unwind, coroutine_begins_with_its_function)
{
    enum { STACK = 1 << 16 };
    shot_new();
    getcontext(&there);
    there.uc_stack.ss_sp = malloc(STACK);
    there.uc_stack.ss_size = STACK;
    there.uc_link = &back; /* what glibc's __start_context would return to is no address of code */
    makecontext(&there, (void (*)(void))coroutine, 1, 2);
    swapcontext(&back, &there);
    self = self_open();
    enum unwind_end end;
    size_t count = unwind_sample(self.process, &shot->sample, frames, FRAMES, &end);
    cr_expect_eq(end, UNWIND_ROOT, "%s", unwind_end_text(end));
    cr_assert_eq(count, 5u, "shoot, three of recurse, coroutine");
    cr_expect_str_eq(function_name(&frames[4].place), "coroutine");
    uint64_t base;
    cr_expect_eq(unwind_base(frames, count, &base), STACK_SHARED);
    cr_expect_eq(base, frames[4].cfa);
    cr_expect_leq(base, (uint64_t)(uintptr_t)there.uc_stack.ss_sp + STACK);
    shot_free();
}

/* Where setcontext() has loaded the other stack's pointer; 0: nowhere. */
static uint64_t find_switch(void)
{
    struct place place;
    cr_assert(process_place(self.process, (uintptr_t)setcontext, &place));
    for (uint64_t at = 0; at < image_function(place.image, place.function)->size; at++)
        if (image_stack_switched(place.image, place.address + at))
            return (uintptr_t)setcontext + at;
    return 0;
}

/* On a stack that has a 0 where CFI, which is wrong there, tells the return address: by that, it would be one
 * frame's. */
Test(unwind, a_change_of_stacks_is_no_stack_of_one_frame)
{
    static const uint64_t zeros[16];
    self = self_open();
    uint64_t switched = find_switch();
    if (!switched)
        cr_skip_test("this setcontext() does it in another way");
    struct sample sample = self_sample((uintptr_t)setcontext, 0x10000, 0);
    sample.stack = (const uint8_t *)zeros;
    sample.stack_size = sizeof zeros;
    enum unwind_end end;
    cr_expect_eq(unwind_sample(self.process, &sample, frames, FRAMES, &end), 1u);
    cr_expect_eq(end, UNWIND_ROOT, "at its entry");
    sample.ip = sample.reg_ip = switched;
    cr_expect_eq(unwind_sample(self.process, &sample, frames, FRAMES, &end), 0u);
    cr_expect_eq(end, UNWIND_UNSUPPORTED);
    cr_assert_eq(process_set_stack(self.process, sample.tid, sample.sp - 0x1000, sample.sp + 0x1000, NULL),
                 0);
    cr_expect_eq(unwind_sample(self.process, &sample, frames, FRAMES, &end), 0u, "on a stack that is known");
    cr_expect_eq(end, UNWIND_UNSUPPORTED);
    self_close(&self);
}

static void *thread(void *argument)
{
    recurse(3);
    return argument;
}

Test(unwind, thread_ends_in_clone)
{
    shot_new();
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    size_t count = check(frames);
    uint64_t ret, base;
    struct unwind_frame *root = &frames[count - 1];
    cr_assert(image_thread_return(root->place.image, &ret));
    cr_expect_eq(root->place.address, ret);
    cr_assert_eq(unwind_base(frames, count, &base), STACK_OWN);
    cr_expect_eq(base, frames[count - 2].cfa);
    cr_expect_eq(base + 8, root->cfa);
    cr_expect_eq(base % 16, 0);
    shot_free();
}

/* A 0 in place of a return address begins a stack where its base may be, and elsewhere only if that is not known. */
Test(unwind, a_return_address_of_0_is_a_root_at_the_base)
{
    enum { AT = 20, ROOM = 64 };
    shot_new();
    recurse(100);
    self = self_open();
    enum unwind_end end;
    const struct sample *sample = &shot->sample;
    cr_assert_gt(unwind_sample(self.process, sample, frames, FRAMES, &end), AT + 2u);
    const uint64_t cfa = frames[AT].cfa, low = sample->sp - 4096;
    memset(shot->dump + (cfa - 8 - sample->sp), 0, 8);
    cr_expect_eq(unwind_sample(self.process, sample, frames, FRAMES, &end), AT + 1u);
    cr_expect_eq(end, UNWIND_ROOT, "no base is known");
    cr_assert_eq(process_set_stack(self.process, sample->tid, low, cfa + ROOM + 8, NULL), 0);
    const size_t count = unwind_sample(self.process, sample, frames, FRAMES, &end);
    cr_expect_eq(count, AT + 1u);
    cr_expect_eq(end, UNWIND_NO_MAPPING);
    char text[PARTIAL_TEXT];
    partial_text(self.process, sample, frames, count, end, text);
    cr_expect_str_eq(text, "[damaged stack]");
    cr_assert_eq(process_set_stack(self.process, sample->tid, low, cfa + ROOM, NULL), 0);
    cr_expect_eq(unwind_sample(self.process, sample, frames, FRAMES, &end), AT + 1u);
    cr_expect_eq(end, UNWIND_ROOT, "it may be the outermost function's");
    shot_free();
}

Test(unwind, ends_early_with_its_reason)
{
    shot_new();
    recurse(100);
    self = self_open();
    enum unwind_end end;
    size_t whole = unwind_sample(self.process, &shot->sample, frames, FRAMES, &end);
    cr_assert_eq(end, UNWIND_ROOT);
    struct sample sample = shot->sample;

    cr_expect_eq(unwind_sample(self.process, &sample, frames, whole, &end), whole);
    cr_expect_eq(end, UNWIND_ROOT);
    cr_expect_eq(unwind_sample(self.process, &sample, frames, 10, &end), 10u);
    cr_expect_eq(end, UNWIND_LONG);

    /* Each frame that lies wholly in the cut dump is there, and none that does not. */
    unwind_sample(self.process, &sample, frames, FRAMES, &end);
    uint64_t cut_at = frames[50].cfa;
    struct unwind_frame *cut = calloc(FRAMES, sizeof *cut);
    for (uint32_t less = 0; less <= 8; less += 8) {
        sample.stack_size = (uint32_t)(cut_at - sample.sp) - less;
        size_t count = unwind_sample(self.process, &sample, cut, FRAMES, &end);
        cr_expect_eq(end, UNWIND_CUT);
        cr_expect_eq(count, less ? 51u : 52u);
        expect_same_from_record(&sample, cut, count, end);
    }
    sample.stack_size = 0;
    cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 1u);
    cr_expect_eq(end, UNWIND_CUT);

    /* A walk that came to code which the recorder did not know, or had no CFI of: what is missing here is the copy. */
    static struct walked_frame written[FRAMES];
    struct walked walked;
    for (enum unwind_end early = UNWIND_NO_MAPPING; early <= UNWIND_NO_CFI; early++) {
        walked_make(&shot->sample, frames, 51, early, written, &walked);
        sample = shot->sample;
        sample.walk = &walked;
        cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 51u);
        cr_expect_eq(end, UNWIND_CUT);
        walked.back = 0x10;
        cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 51u);
        cr_expect_eq(end, early, "nor is it known here");
    }

    /* A base in the middle of it ends the walk there. */
    sample = shot->sample;
    process_set_stack(self.process, sample.tid, sample.sp, frames[20].cfa, NULL);
    cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 21u);
    cr_expect_eq(end, UNWIND_ROOT);

    sample.reg_ip = 0x10;
    cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 0u);
    cr_expect_eq(end, UNWIND_NO_MAPPING);
    sample.has_regs = false;
    cr_expect_eq(unwind_sample(self.process, &sample, cut, FRAMES, &end), 0u);
    free(cut);
    shot_free();
}

/* A copy that says that it goes on with another stack where no function changed to one: callers are not read off that. */
Test(unwind, another_stack_is_entered_by_a_change_alone)
{
    shot_new();
    recurse(100);
    self = self_open();
    enum unwind_end end;
    unwind_sample(self.process, &shot->sample, frames, FRAMES, &end);
    struct unwind_frame *ended = calloc(FRAMES, sizeof *ended);
    struct sample sample = shot->sample;
    for (size_t i = 10; i < 60; i += 10)
        for (uint64_t before = 0; before <= 8; before += 8) {
            sample.stack_switch = (uint32_t)(frames[i].cfa - before - sample.sp);
            const size_t count = unwind_sample(self.process, &sample, ended, FRAMES, &end);
            cr_expect_eq(end, UNWIND_BAD);
            cr_expect_eq(count, i + 1 + (before == 0));
            cr_expect_not(unwind_switched(&sample, ended, i + 1 - (before > 0)));
        }
    free(ended);
    shot_free();
}

Test(unwind, damaged_dumps_never_harm)
{
    shot_new();
    with_alloca(500);
    self = self_open();
    uint64_t seed = 99;
    struct sample sample = shot->sample;
    uint8_t *dump = malloc(sample.stack_size);
    size_t ends[UNWIND_ENDS] = {0};
    for (int round = 0; round < 20000; round++) {
        uint32_t size = sample.stack_size < 4096 ? sample.stack_size : 4096;
        memcpy(dump, shot->sample.stack, size);
        sample = shot->sample;
        sample.stack = dump;
        sample.stack_size = size;
        for (int hits = 0; hits < 1 + round % 40; hits++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            /* Random bytes, or code and stack addresses in odd places. */
            uint64_t word = seed >> 62 == 0   ? (uintptr_t)&recurse + (seed >> 40 & 0xffff)
                            : seed >> 62 == 1 ? sample.sp + (seed >> 40 & 0xfff)
                                              : seed;
            memcpy(dump + (seed >> 20) % (size - 8), &word, sizeof word);
        }
        if (round % 3 == 1)
            sample.sp += seed >> 50;
        if (round % 3 == 2)
            sample.bp = seed;
        enum unwind_end end;
        size_t count = unwind_sample(self.process, &sample, frames, 64, &end);
        cr_assert_leq(count, 64u);
        cr_assert_lt(end, UNWIND_ENDS);
        ends[end]++;
        for (size_t i = 1; i < count; i++)
            cr_assert_gt(frames[i].cfa, frames[i - 1].cfa);
        if (round % 100 == 0 && end != UNWIND_LONG)
            expect_same_from_record(&sample, frames, count, end);
    }
    cr_expect_gt(ends[UNWIND_NO_MAPPING], 0u);
    cr_expect_gt(ends[UNWIND_CUT], 0u);
    free(dump);
    shot_free();
}

/* Frames of a hostile record: whatever they are, CFAs grow. */
Test(unwind, damaged_walks_never_harm)
{
    shot_new();
    with_alloca(500);
    self = self_open();
    static struct walked_frame written[FRAMES], damaged[FRAMES];
    struct walked walked;
    enum unwind_end end;
    size_t whole = unwind_sample(self.process, &shot->sample, frames, FRAMES, &end), shorter = 0;
    walked_make(&shot->sample, frames, whole, end, written, &walked);
    struct sample sample = shot->sample;
    walked.frames = damaged;
    sample.walk = &walked;
    uint64_t seed = 99;
    for (int round = 0; round < 20000; round++) {
        memcpy(damaged, written, whole * sizeof *damaged);
        for (int hits = 0; hits < round % 4; hits++) {
            uint64_t random = hash_random(&seed);
            struct walked_frame *frame = &damaged[random % whole];
            *(random & 1 << 20 ? &frame->pc : &frame->cfa) += random >> (random >> 8 & 63);
            frame->marks ^= (uint8_t)(random >> 30);
        }
        walked.end = (uint8_t)(round % 20);
        size_t count = unwind_sample(self.process, &sample, frames, FRAMES, &end);
        cr_assert_leq(count, whole);
        cr_assert_lt(end, UNWIND_ENDS);
        shorter += count < whole;
        for (size_t i = 1; i < count; i++)
            cr_assert_gt(frames[i].cfa, frames[i - 1].cfa);
    }
    cr_expect_gt(shorter, 0u);
    shot_free();
}

/* No frame, and so nothing that could be the base. */
Test(unwind, a_damaged_walk_without_frames_has_no_root)
{
    shot_new();
    with_alloca(500);
    self = self_open();
    for (enum unwind_end told = 0; told < UNWIND_ENDS; told++) {
        const struct walked walked = {.end = (uint8_t)told};
        struct sample sample = shot->sample;
        enum unwind_end end;
        sample.walk = &walked;
        cr_expect_eq(unwind_sample(self.process, &sample, frames, FRAMES, &end), 0u);
        cr_expect_eq(end, told == UNWIND_ROOT || told == UNWIND_SIGNAL ? UNWIND_BAD : told);
    }
    shot_free();
}

/* The words of a walk --------------------------------------------------------------------------------------- */

static struct unwind_words words;
static struct unwind_frame walked[FRAMES], again[FRAMES];

static size_t walk(struct unwind_frame *to, enum unwind_end *how)
{
    return unwind_words(self.process, &shot->sample, to, FRAMES, &words, how);
}

static uint64_t *dumped(uint64_t address)
{
    return (uint64_t *)(void *)(shot->dump + (address - shot->sample.sp));
}

/* With any of a word's values the walk finds the same functions and CFAs. */
static void expect_same_frames(size_t count)
{
    enum unwind_end how;
    cr_assert_eq(unwind_sample(self.process, &shot->sample, again, FRAMES, &how), count);
    cr_assert_eq(how, UNWIND_ROOT);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(again[i].cfa, walked[i].cfa);
        cr_assert_eq(again[i].place.image, walked[i].place.image);
        cr_assert_eq(again[i].place.function, walked[i].place.function);
    }
}

/* Another call of the same function, in the word's range. */
static void other_calls(const struct stack_word *word, uint64_t *at, size_t count)
{
    const uint64_t was = *at;
    struct place place;
    size_t size;
    if (!process_place(self.process, was - 1, &place) || place.function == IMAGE_NO_FUNCTION)
        return;
    const struct image_function *function = image_function(place.image, place.function);
    const uint8_t *code = image_bytes(place.image, function->address, &size);
    const uint64_t moved = was - 1 - place.address;
    cr_assert(code && size >= function->size);
    struct code_insn insn;
    for (uint64_t offset = 0; offset < function->size; offset += insn.length) {
        if (!code_read(code + offset, function->size - offset, function->address + offset, &insn))
            break;
        const uint64_t returns_to = function->address + offset + insn.length + moved;
        if ((insn.kind != CODE_CALL && insn.kind != CODE_CALL_INDIRECT) ||
            returns_to - word->low >= word->size)
            continue;
        *at = returns_to;
        expect_same_frames(count);
    }
    *at = was;
}

APART static void words_here(void)
{
    enum unwind_end how;
    shoot();
    self = self_open();
    self_set_stack(&self);
    const size_t count = walk(walked, &how);
    cr_assert_eq(how, UNWIND_ROOT);
    cr_expect_not(words.partial);
    size_t returns = 0, wide = 0;
    for (size_t i = 0; i < words.count; i++) {
        const struct stack_word word = words.words[i];
        uint64_t *at = dumped(word.address), was = *at;
        cr_assert_geq(word.address, shot->sample.sp);
        cr_assert_leq(word.address + 8, shot->sample.sp + shot->sample.stack_size);
        cr_assert(was >= word.low && was - word.low < word.size);
        if (word.in_stack) {
            cr_assert_eq(word.size, 1u);
            continue;
        }
        cr_assert_eq(word.address, walked[returns++].cfa - 8);
        wide += word.size > 1;
        other_calls(&word, at, count);
    }
    cr_expect_geq(returns + 1, count);
    cr_expect_gt(wide, 0u, "some function has one CFI row at all of its calls");
    /* A second walk, with what was remembered, finds the same words. */
    const size_t before = words.count;
    struct stack_word *copy = malloc(before * sizeof *copy);
    memcpy(copy, words.words, before * sizeof *copy);
    cr_assert_eq(walk(again, &how), count);
    cr_assert_eq(words.count, before);
    for (size_t i = 0; i < before; i++)
        cr_expect(copy[i].address == words.words[i].address && copy[i].low == words.words[i].low &&
                  copy[i].size == words.words[i].size && copy[i].in_stack == words.words[i].in_stack);
    free(copy);
    /* All that is no word may be anything. */
    uint64_t *noise = malloc(shot->sample.stack_size);
    for (size_t i = 0; i < shot->sample.stack_size / 8; i++)
        noise[i] = 0x5a5a5a5a5a5a5a5a;
    for (size_t i = 0; i < words.count; i++)
        noise[(words.words[i].address - shot->sample.sp) / 8] = *dumped(words.words[i].address);
    memcpy(shot->dump, noise, shot->sample.stack_size / 8 * 8);
    if (!words.has_bp)
        shot->sample.bp = 0x5a5a5a5a5a5a5a5a;
    expect_same_frames(count);
    free(noise);
}

APART static void words_below(unsigned depth, size_t bytes)
{
    volatile char *capacity = alloca(bytes); /* found by BP */
    capacity[0] = 1;
    if (depth)
        words_below(depth - 1, bytes + 48);
    else
        words_here();
    capacity[bytes - 1] = 2;
}

Test(unwind, words_are_all_that_a_walk_depends_on)
{
    shot_new();
    words_below(6, 64);
    unwind_words_free(&words);
    shot_free();
}
