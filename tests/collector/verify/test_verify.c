/*
 * The BPF program and the code that makes stacks known to it, together, on random stacks: what they tell is held
 * against a plain model of the rule (rule.h), which knows nothing of depths, heights, pages' keys and blocks.
 *
 * The model is what a report does: it keeps what was announced last for a thread, page of code and SP, and compares
 * the sample's memory, word by word, with the words of the stack that it would then take for the sample's.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "collector/verify/user/machine.h"

enum {
    THREADS = 6,
    REGION = 244 << 10, /* bytes of stack */
    SHAPES = 4,         /* of stacks, per depth */
    DEPTHS = 7,
    PAGES = 3,
    WORDS_MAX = 60,
    WORDS_DEEP = 1000,
    FUNCTIONS = 40,
    TOLD_MAX = 1 << 10,
};

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % bound);
}

static bool one_in(uint32_t n)
{
    return n && random_below(n) == 0;
}

/* Functions are 256 bytes apart. */
static uint64_t function_start(uint32_t function)
{
    return 0x400000 + function * UINT64_C(256);
}

static uint32_t function_size(uint32_t function)
{
    return 1 + function * 5 % 255;
}

#define OTHER  14u /* r12: BP + BEYOND in all samples */
#define BEYOND 24u

/* Where a stack has its return addresses and saved frame pointers, innermost first. */
struct shape {
    uint32_t count;
    uint32_t offset[WORDS_DEEP]; /* from SP, bytes */
    bool saved_bp[WORDS_DEEP];
    uint8_t reg; /* as in struct known_stack: none, BP or OTHER */
};

struct thread {
    uint32_t pid, tid;
    bool followed;
    uint64_t low; /* address of its memory */
    uint8_t *bytes;
};

/* One that was announced as new. */
struct announced {
    uint32_t number, pid;
    uint64_t page, sp, bp, ip;
    const struct shape *shape;
    struct stack_word *words; /* as many as the shape has */
    size_t before; /* 1 + the place of the last one before with a number of the same remainder; 0: none */
};

#define REMAINDERS 4096

struct told_by {
    uint32_t tid, number;
    uint64_t page, sp;
};

struct world {
    struct machine machine;
    struct verify_config config;
    struct known_stacks *known;
    struct thread threads[THREADS];
    struct shape shapes[DEPTHS][SHAPES];
    struct announced *stacks;                    /* which move as more come */
    size_t stack_capacity, stack_count, learned; /* those before were looked at by the learner */
    size_t last[REMAINDERS];                     /* as announced.before */
    struct told_by told[TOLD_MAX];
    size_t told_count;
    uint32_t ring_full, told_full; /* one in so many; 0: never */
    uint32_t kinds[STACK_RECORD_GONE + 1], silent, dropped;
};

static const uint32_t depths[DEPTHS] = {64, 520, 4096, 20000, 61448, 70000, 240000};

static bool ring_full(void *world, uint64_t size)
{
    const struct world *w = world;
    return one_in(size > 200 ? w->ring_full / 4 : w->ring_full);
}

static bool told_full(void *world)
{
    const struct world *w = world;
    return one_in(w->told_full);
}

static void make_shape(uint32_t depth, struct shape *shape)
{
    uint32_t want = one_in(8) ? WORDS_MAX : 1 + random_below(6);
    uint32_t step = one_in(3) ? depth / want / 8 : 1 + random_below(6), at = 0;
    *shape = (struct shape){.reg = !one_in(3) ? 0 : one_in(3) ? OTHER : RULE_BP};
    while (shape->count < want) {
        at += 8 + 8 * random_below(step + 1);
        if (at + 8 > depth)
            break;
        shape->saved_bp[shape->count] = one_in(4);
        shape->offset[shape->count++] = at;
    }
}

static void world_start(struct world *w, const struct verify_config *config, uint64_t seed)
{
    *w = (struct world){.config = *config};
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    cr_assert_eq(machine_start(&w->machine, config), 0);
    w->machine.ring_full = ring_full;
    w->machine.told_full = told_full;
    w->machine.context = w;
    const struct known_stacks_maps maps = machine_maps();
    cr_assert_eq(known_stacks_new(&maps, config->compared, config->page_bits, &w->known), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &w->threads[i];
        *t = (struct thread){.pid = 100 * (1 + i / 2), .tid = 100 * (1 + i / 2) + i % 2, .followed = true};
        t->low = UINT64_C(0x7ffd00000000) + i * UINT64_C(0x100000) + (i == 3 ? UINT64_C(0x80000000) : 0);
        t->bytes = calloc(1, REGION);
        machine_follow(t->pid, true);
        machine_place(t->pid, t->pid);
        if (i != 5)
            machine_set_base(t->tid, t->low + REGION);
    }
    for (uint32_t i = 0; i < DEPTHS; i++)
        for (uint32_t k = 0; k < SHAPES; k++)
            make_shape(depths[i], &w->shapes[i][k]);
}

static void world_stop(struct world *w)
{
    for (size_t i = 0; i < THREADS; i++)
        free(w->threads[i].bytes);
    for (size_t i = 0; i < w->stack_count; i++)
        free(w->stacks[i].words);
    free(w->stacks);
    known_stacks_free(w->known);
    machine_stop();
}

static uint64_t word_at(const struct thread *t, uint64_t address)
{
    uint64_t word;
    memcpy(&word, t->bytes + (address - t->low), sizeof word);
    return word;
}

static void set_word(struct thread *t, uint64_t address, uint64_t word)
{
    memcpy(t->bytes + (address - t->low), &word, sizeof word);
}

/* The plain model ------------------------------------------------------------------------------------------- */

static const struct announced *stack_of(const struct world *w, uint32_t number)
{
    size_t i = w->last[number % REMAINDERS];
    while (i && w->stacks[i - 1].number != number)
        i = w->stacks[i - 1].before;
    return i ? &w->stacks[i - 1] : NULL;
}

/* Whether the thread's memory is that stack's, as far as it is compared. */
static bool fits(const struct world *w, const struct announced *a, const struct thread *t,
                 const struct machine_sample *s)
{
    const uint64_t moved = s->sp - a->sp;
    if (machine_space(a->pid) != machine_space(s->pid) || a->page != s->ip >> w->config.page_bits)
        return false;
    if (w->config.compared == 0)
        return true;
    if (a->shape->reg && s->bp - a->bp != moved)
        return false;
    uint32_t returns = 0;
    for (uint32_t i = 0; i < a->shape->count && returns < w->config.compared; i++) {
        const struct stack_word *word = &a->words[i];
        const uint64_t address = word->address + moved;
        if (address < t->low || address - t->low > REGION - 8)
            return false;
        const uint64_t value = word_at(t, address), low = word->low + (word->in_stack ? moved : 0);
        if (value < low || value - low >= word->size)
            return false;
        returns += !word->in_stack;
    }
    return true;
}

static struct told_by *last_told(struct world *w, const struct machine_sample *s, bool make)
{
    const uint64_t page = s->ip >> w->config.page_bits;
    for (size_t i = 0; i < w->told_count; i++)
        if (w->told[i].tid == s->tid && w->told[i].page == page && w->told[i].sp == s->sp)
            return &w->told[i];
    if (!make)
        return NULL;
    cr_assert_lt(w->told_count, (size_t)TOLD_MAX);
    w->told[w->told_count] = (struct told_by){.tid = s->tid, .page = page, .sp = s->sp};
    return &w->told[w->told_count++];
}

/* One sample ------------------------------------------------------------------------------------------------- */

struct scene {
    struct thread *thread;
    const struct shape *shape;
    struct machine_sample sample;
};

static int run_sample(const struct machine_sample *s)
{
    uint64_t registers[STACK_RECORD_REGISTER_COUNT] = {[OTHER - 1] = s->bp + BEYOND};
    struct machine_sample sample = *s;
    sample.registers = (const uint8_t *)registers;
    return machine_sample(&sample);
}

/* Puts a stack into the thread's memory. */
static void make_scene(struct world *w, uint32_t functions, struct scene *out)
{
    struct thread *t = &w->threads[random_below(THREADS)];
    const uint32_t at = random_below(DEPTHS), depth = depths[at];
    const uint64_t sp = t->low + REGION - depth;
    *out = (struct scene){.thread = t, .shape = &w->shapes[at][random_below(SHAPES)]};
    for (uint32_t k = 0; k < SHAPES; k++)
        for (uint32_t i = 0; i < w->shapes[at][k].count; i++)
            set_word(t, sp + w->shapes[at][k].offset[i], function_start(random_below(functions)));
    for (uint32_t i = 0; i < out->shape->count; i++) {
        const uint64_t address = sp + out->shape->offset[i];
        const uint32_t function = i < 3 ? random_below(functions) : i % FUNCTIONS;
        uint64_t value = function_start(function) + random_below(function_size(function));
        if (out->shape->saved_bp[i])
            value = address + 16 + 8 * (functions > 1 && one_in(4));
        else if (functions > 1 && one_in(64))
            value = function_start(function) + function_size(function);
        set_word(t, address, value);
    }
    out->sample =
        (struct machine_sample){.cpu = random_below(MACHINE_CPUS),
                                .pid = t->pid,
                                .tid = t->tid,
                                .ip = UINT64_C(0x400000) + random_below(PAGES << w->config.page_bits),
                                .sp = sp,
                                .bp = sp + 8 * (functions > 1 ? random_below(3) : 1)};
}

static void keep_new(struct world *w, const struct scene *scene, uint32_t number)
{
    if (w->stack_count == w->stack_capacity) {
        w->stack_capacity = w->stack_capacity ? 2 * w->stack_capacity : 64;
        w->stacks = realloc(w->stacks, w->stack_capacity * sizeof *w->stacks);
        cr_assert_not_null(w->stacks);
    }
    struct announced *a = &w->stacks[w->stack_count++];
    const struct machine_sample *s = &scene->sample;
    *a = (struct announced){number,       s->pid, s->ip >> w->config.page_bits, s->sp, s->bp, s->ip,
                            scene->shape, NULL,   w->last[number % REMAINDERS]};
    a->words = calloc(a->shape->count, sizeof *a->words);
    w->last[number % REMAINDERS] = w->stack_count;
    for (uint32_t i = 0; i < a->shape->count; i++) {
        const uint64_t address = s->sp + a->shape->offset[i], value = word_at(scene->thread, address);
        const uint32_t function = (uint32_t)((value - function_start(0)) / 256);
        struct stack_word *word = &a->words[i];
        *word = (struct stack_word){address, value, value, 1, a->shape->saved_bp[i], false};
        if (!word->in_stack && value - function_start(function) < function_size(function)) {
            word->low = function_start(function);
            word->size = function_size(function);
        }
    }
}

/* Makes the next stack known, in a thread that may be slow. */
static int learn_next(struct world *w)
{
    const struct announced *a = &w->stacks[w->learned++];
    const struct thread *t = NULL;
    for (size_t i = 0; i < THREADS; i++)
        if (a->sp >= w->threads[i].low && a->sp - w->threads[i].low < REGION)
            t = &w->threads[i];
    return known_stacks_add(w->known,
                            &(struct known_stack){.space = a->pid,
                                                  .tid = t->tid,
                                                  .ip = a->ip,
                                                  .sp = a->sp,
                                                  .reg = a->shape->reg,
                                                  .value = a->bp + (a->shape->reg == OTHER ? BEYOND : 0),
                                                  .number = a->number,
                                                  .row = a->ip,
                                                  .row_size = 1,
                                                  .words = a->words,
                                                  .count = a->shape->count},
                            NULL);
}

/* All bytes that are there are read; the others are HOLE. */
static void check_bytes(const struct world *w, uint64_t sp, const struct machine_record *record)
{
    static const uint8_t hole[8] = {0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd};
    uint8_t want[RULE_STACK_MAX];
    memset(want, 0xfd, record->head.size);
    for (size_t i = 0; i < w->machine.memory_count; i++) {
        const struct machine_memory *m = &w->machine.memory[i];
        uint64_t from = m->start > sp ? m->start : sp, to = m->start + m->size;
        if (to > sp + record->head.size)
            to = sp + record->head.size;
        /* A page is read whole or not at all. */
        from = from == sp ? from : (from + 4095) & ~UINT64_C(4095);
        to = to == sp + record->head.size ? to : to & ~UINT64_C(4095);
        if (from < to)
            memcpy(want + (from - sp), m->bytes + (from - m->start), (size_t)(to - from));
    }
    for (uint32_t at = record->left_out; at < record->rest_at; at += 8)
        if (memcmp(record->stack + at, hole, 8) == 0)
            memcpy(want + at, hole, 8);
    cr_assert_eq(memcmp(record->stack, want, record->head.size), 0);
}

static void check_new(const struct world *w, const struct scene *scene, const struct machine_record *record)
{
    const struct machine_sample *s = &scene->sample;
    const uint64_t room = scene->thread->low + REGION - s->sp;
    cr_assert_neq(record->head.number, 0u);
    cr_assert_eq(record->head.number & ((1u << w->config.cpu_bits) - 1), s->cpu);
    cr_assert_null(stack_of(w, record->head.number));
    cr_assert(record->head.size >= 8 && record->head.size <= room && record->head.size <= RULE_STACK_MAX);
    check_bytes(w, s->sp, record);
}

/* The record before the sample; NULL: none. */
static const struct machine_record *record_of(const struct world *w)
{
    const size_t count = w->machine.record_count;
    return count ? &w->machine.records[count - 1] : NULL;
}

#define INNER (RULE_STACK_MAX - sizeof(struct stack_part) - sizeof(int64_t) - STACK_RECORD_OUTER)

/* Those before it are of the same stack: of one that is larger than a record, all that lies between its two parts. */
static void check_more(const struct world *w, const struct scene *scene)
{
    const struct machine_record *record = record_of(w);
    const uint64_t sp = scene->sample.sp, end = scene->thread->low + REGION - STACK_RECORD_OUTER - sp;
    uint64_t at = INNER;
    for (size_t i = 0; i + 1 < w->machine.record_count; i++) {
        const struct machine_record *more = &w->machine.records[i];
        cr_assert_eq(more->head.kind, STACK_RECORD_MORE);
        cr_assert(more->head.number == record->head.number || record->head.kind == STACK_RECORD_NONE);
        cr_assert_eq(more->head.sp, sp);
        cr_assert_eq(more->more_at, at);
        check_bytes(w, sp + at, more);
        at += more->head.size;
    }
    cr_assert(w->machine.record_count < 2 || at == end || w->ring_full);
}

/* Runs the program on a sample, and holds what it says against the model. Returns the kind of record; 0: none. */
static int take(struct world *w, const struct scene *scene)
{
    const struct machine_sample *s = &scene->sample;
    const struct verify_counts before = machine_counts();
    const int result = run_sample(s);
    const struct verify_counts after = machine_counts();
    const struct machine_record *record = record_of(w);
    cr_assert_eq(after.lost - before.lost, result ? 0u : 1u);
    if (!result) { /* the report never sees it */
        cr_assert(!record || record->head.kind == STACK_RECORD_MORE);
        w->dropped++;
        return 0;
    }
    if (!scene->thread->followed) {
        cr_assert_eq(w->machine.record_count, 0u);
        return 0;
    }
    check_more(w, scene);
    if (record) {
        cr_assert_neq(record->head.kind, STACK_RECORD_MORE);
        cr_assert_eq(record->head.magic, STACK_RECORD_MAGIC);
        cr_assert_eq(record->head.version, STACK_RECORD_VERSION);
        cr_assert_eq(record->head.sp, s->sp);
        cr_assert_eq(record->head.page_bits, w->config.page_bits);
        cr_assert_eq(record->head.compared, w->config.compared);
        cr_assert_eq(record->head.kind == STACK_RECORD_NONE, record->head.number == 0);
        cr_assert_eq(record->head.kind == STACK_RECORD_RETURNED, record->head.number == STACK_RECORD_LATE);
        cr_assert_eq(record->head.kind == STACK_RECORD_GONE, record->head.number == STACK_RECORD_NOWHERE);
        bool read = record->head.kind == STACK_RECORD_NEW || record->head.kind == STACK_RECORD_AGAIN;
        cr_assert_eq(read, record->head.size > 0);
        if (read) {
            check_new(w, scene, record);
            keep_new(w, scene, record->head.number);
        }
        last_told(w, s, true)->number = record->head.number;
    }
    const struct told_by *told = last_told(w, s, false);
    cr_assert(told, "a sample of a followed thread without any announcement");
    if (told->number && told->number != STACK_RECORD_NOWHERE) {
        const struct announced *a = stack_of(w, told->number);
        cr_assert(a, "stack %u was never announced", told->number);
        cr_assert(fits(w, a, scene->thread, s), "stack %u, said to be the sample's, is not", told->number);
    }
    const int kind = record ? record->head.kind : 0;
    w->kinds[kind]++;
    w->silent += !record && told->number;
    return kind;
}

/* Memory is all of the thread's stack, or has holes. */
static void run(struct world *w, const struct scene *scene, bool holes)
{
    const struct thread *t = scene->thread;
    struct machine_memory parts[2] = {{t->low, REGION, t->bytes}};
    w->machine.memory = parts;
    w->machine.memory_count = 1;
    if (holes) {
        parts[0].size = scene->sample.sp - t->low + random_below(9000) / 8 * 8;
        if (parts[0].size > REGION)
            parts[0].size = REGION;
        if (parts[0].size + 4096 < REGION) {
            parts[1] = (struct machine_memory){t->low + parts[0].size + 4096, REGION - parts[0].size - 4096,
                                               t->bytes + parts[0].size + 4096};
            w->machine.memory_count = 2;
        }
    }
    take(w, scene);
    w->machine.memory_count = 0;
}

static const struct verify_config plain_config = {.started = 1000,
                                                  .burst = UINT32_MAX,
                                                  .rate = UINT32_MAX,
                                                  .page_bits = 12,
                                                  .compared = STACK_RECORD_ALL,
                                                  .cpu_bits = 1,
                                                  .follow = VERIFY_PIDS};

/* What happens between samples: processes end, threads' numbers are used again, bases become known. */
static void disturb(struct world *w)
{
    struct thread *t = &w->threads[random_below(THREADS)];
    switch (random_below(8)) {
    case 0:
        known_stacks_forget(w->known, t->pid);
        break;
    case 1:
        machine_set_base(t->tid, 0);
        break;
    case 2:
        machine_set_base(t->tid, t->low + REGION);
        break;
    case 3: /* another process has this thread's number now */
        t->pid = 100 * (1 + random_below(4));
        machine_follow(t->pid, true);
        machine_place(t->pid, t->pid);
        break;
    default:
        machine_evict(random_below(1000));
        break;
    }
}

static void run_all(struct world *w, uint32_t samples, bool wild)
{
    for (uint32_t i = 0; i < samples; i++) {
        struct scene scene;
        if (wild && one_in(20))
            disturb(w);
        make_scene(w, 3, &scene);
        run(w, &scene, wild && one_in(10));
        w->machine.now += random_below(20000000);
        while (w->learned < w->stack_count && !one_in(3))
            learn_next(w);
    }
}

Test(verify, a_silent_sample_has_the_stack_announced_last)
{
    static const uint8_t compared[] = {STACK_RECORD_ALL, 1, 2, 5, 0};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct world w;
        struct verify_config config = plain_config;
        config.compared = compared[seed % sizeof compared];
        config.page_bits = seed % 3 ? 12 : 8;
        config.follow = seed % 2 ? VERIFY_ALL : VERIFY_PIDS;
        world_start(&w, &config, seed);
        run_all(&w, 20000, false);
        cr_expect_gt(w.kinds[STACK_RECORD_SAME], 100u);
        cr_expect_gt(w.silent, 500u);
        cr_expect_eq(w.dropped, 0u);
        world_stop(&w);
    }
}

Test(verify, neither_full_rings_nor_holes_nor_reused_threads_mix_stacks_up)
{
    static const uint8_t compared[] = {STACK_RECORD_ALL, 1, 3, 0};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct world w;
        struct verify_config config = plain_config;
        config.compared = compared[seed % sizeof compared];
        world_start(&w, &config, seed);
        w.ring_full = 16;
        w.told_full = seed % 2 ? 10 : 0;
        run_all(&w, 20000, true);
        cr_expect_gt(w.silent, 50u);
        cr_expect_gt(w.dropped, 10u);
        world_stop(&w);
    }
}

Test(verify, stacks_are_read_within_the_budget)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world w;
        struct verify_config config = plain_config;
        config.burst = 10 * seed;
        config.rate = seed % 2 ? 3 : 0;
        config.compared = seed == 4 ? 0 : STACK_RECORD_ALL;
        world_start(&w, &config, seed);
        run_all(&w, 5000, false);
        const uint64_t seconds = (w.machine.now - config.started) / 1000000000 + 1;
        const uint64_t read = w.kinds[STACK_RECORD_NEW] + w.kinds[STACK_RECORD_AGAIN];
        cr_expect_leq(read, config.burst + config.rate * seconds);
        cr_expect_gt(read + 1, config.burst + config.rate * (seconds - 1) * 9 / 10);
        cr_expect_gt(w.kinds[STACK_RECORD_NONE], 10u);
        cr_expect_eq(machine_counts().copies, read);
        world_stop(&w);
    }
}

/* As long as there is room for each, a stack that was learned is never read again. */
Test(verify, a_known_stack_is_recognised)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world w;
        world_start(&w, &plain_config, seed);
        for (uint32_t i = 0; i < 10000; i++) {
            struct scene scene;
            bool known = false;
            make_scene(&w, 1, &scene);
            const bool based =
                machine_base(scene.thread->tid) != 0; /* else only some of a place's are kept */
            for (size_t k = 0; k < w.learned && based && !known; k++) {
                const struct announced *a = &w.stacks[k];
                known =
                    a->sp == scene.sample.sp && a->shape->count && fits(&w, a, scene.thread, &scene.sample);
            }
            const size_t before = w.stack_count;
            run(&w, &scene, false);
            cr_assert(!known || w.stack_count == before, "a known stack was read again");
            while (w.learned < w.stack_count)
                learn_next(&w);
        }
        world_stop(&w);
    }
}

/* Threads of a process share what is known, if their bases are. */
static void scene_at(struct world *w, uint32_t thread, uint32_t depth, struct scene *out)
{
    static const struct shape shape = {1, {8}, {false}, 0};
    struct thread *t = &w->threads[thread];
    const uint64_t sp = t->low + REGION - depth;
    *out = (struct scene){t, &shape, {.pid = t->pid, .tid = t->tid, .ip = 0x400123, .sp = sp, .bp = sp}};
    set_word(t, sp + 8, function_start(1));
}

static int take_at(struct world *w, uint32_t thread, uint32_t depth)
{
    struct scene scene;
    scene_at(w, thread, depth, &scene);
    struct machine_memory all = {scene.thread->low, REGION, scene.thread->bytes};
    w->machine.memory = &all;
    w->machine.memory_count = 1;
    return take(w, &scene);
}

Test(verify, threads_of_a_process_share_known_stacks)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW);
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW); /* not learned yet */
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, 0, 64), 0); /* the second number is the first one's alias */
    cr_expect_eq(take_at(&w, 1, 64), STACK_RECORD_SAME);
    cr_expect_eq(take_at(&w, 1, 64), 0);
    cr_expect_eq(take_at(&w, 2, 64), STACK_RECORD_NEW); /* another process */
    cr_expect_eq(take_at(&w, 0, 72), STACK_RECORD_NEW); /* another depth */
    known_stacks_forget(w.known, w.threads[0].pid);
    cr_expect_eq(take_at(&w, 1, 64), STACK_RECORD_NEW);
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, 2, 64), 0);
    world_stop(&w);
}

/* A goroutine's stack moves, and has no base that is known: it is found by its return addresses, wherever it is. */
Test(verify, stacks_without_a_base_are_found_anywhere)
{
    enum { ALONE = 5 };
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_assert_eq(machine_base(w.threads[ALONE].tid), 0);
    cr_expect_eq(take_at(&w, ALONE, 64), STACK_RECORD_NEW);
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, ALONE, 64), 0);
    cr_expect_eq(take_at(&w, ALONE, 4096), STACK_RECORD_SAME);
    cr_expect_eq(take_at(&w, ALONE, 4096), 0);
    struct scene other;
    scene_at(&w, ALONE, 128, &other);
    set_word(other.thread, other.sample.sp + 8, function_start(2));
    const struct machine_memory all = {other.thread->low, REGION, other.thread->bytes};
    w.machine.memory = &all;
    w.machine.memory_count = 1;
    cr_expect_eq(take(&w, &other), STACK_RECORD_NEW, "called from elsewhere");
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take(&w, &other), 0);
    cr_expect_eq(take_at(&w, ALONE, 256), STACK_RECORD_SAME, "that one is known still");
    other.sample.ip += 0x1000;
    w.machine.memory = &all;
    w.machine.memory_count = 1;
    cr_expect_eq(take(&w, &other), STACK_RECORD_NEW, "another page of code");
    cr_expect_eq(take_at(&w, 4, 64), STACK_RECORD_NEW, "of a thread whose base is known");
    known_stacks_forget(w.known, w.threads[ALONE].pid);
    cr_expect_eq(take_at(&w, ALONE, 512), STACK_RECORD_NEW);
    world_stop(&w);
}

/* A stack of two words, its callee's frame gone: the sample 16 bytes further up, with the outer one. */
static void learn_caller(struct world *w, const struct scene *callee, int want)
{
    const struct machine_sample *s = &callee->sample;
    const struct stack_word word = {
        s->sp + 40, word_at(callee->thread, s->sp + 40), word_at(callee->thread, s->sp + 40), 1, false,
        false};
    const struct known_stack caller = {.space = s->pid,
                                       .tid = s->tid,
                                       .ip = 0x400180,
                                       .sp = s->sp + 16,
                                       .number = w->stacks[0].number,
                                       .of_caller = true,
                                       .code = 0x400100,
                                       .code_size = 0x100,
                                       .words = &word,
                                       .count = 1};
    cr_assert_eq(known_stacks_add(w->known, &caller, NULL), want);
}

/* The kind of record of a sample in the caller. */
static int take_caller(struct world *w, const struct scene *callee, uint64_t ip)
{
    const struct machine_memory all = {callee->thread->low, REGION, callee->thread->bytes};
    struct machine_sample caller = callee->sample;
    caller.sp += 16;
    caller.ip = ip;
    w->machine.memory = &all;
    w->machine.memory_count = 1;
    run_sample(&caller);
    cr_assert_leq(w->machine.record_count, 1u);
    const struct stack_record *head = &w->machine.records[0].head;
    if (w->machine.record_count && head->kind == STACK_RECORD_SAME)
        cr_expect_eq(head->number, w->stacks[0].number);
    return w->machine.record_count ? head->kind : 0;
}

Test(verify, the_callers_of_a_new_stack_are_known_in_their_function)
{
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    scene_at(&w, 0, 128, &scene);
    set_word(scene.thread, scene.sample.sp + 40, function_start(2));
    run(&w, &scene, false);
    cr_expect_eq(learn_next(&w), 1);
    learn_caller(&w, &scene, 1);
    learn_caller(&w, &scene, 0); /* as it was known before */
    cr_expect_eq(take_caller(&w, &scene, 0x4000ff), STACK_RECORD_NEW);
    cr_expect_eq(take_caller(&w, &scene, 0x400200), STACK_RECORD_NEW);
    cr_expect_eq(take_caller(&w, &scene, 0x400100), STACK_RECORD_SAME);
    cr_expect_eq(take_caller(&w, &scene, 0x4001ff), 0);
    set_word(scene.thread, scene.sample.sp + 40, function_start(3));
    cr_expect_eq(take_caller(&w, &scene, 0x400100), STACK_RECORD_NEW);
    world_stop(&w);
}

/* As nobody would check what is not compared. */
Test(verify, callers_are_not_known_unless_stacks_are_compared_whole)
{
    struct world w;
    struct scene scene;
    struct verify_config config = plain_config;
    config.compared = 5;
    world_start(&w, &config, 1);
    scene_at(&w, 0, 128, &scene);
    run(&w, &scene, false);
    cr_expect_eq(learn_next(&w), 1);
    learn_caller(&w, &scene, 0);
    world_stop(&w);
}

/* At one stack pointer, code of one page has another CFA before its prologue than after it: taken for the same, its samples would
 * neither be verified nor read. */
Test(verify, a_new_stack_stands_for_the_code_that_is_said)
{
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    scene_at(&w, 0, 128, &scene);
    run(&w, &scene, false);
    const struct machine_sample *s = &scene.sample;
    const struct stack_word word = {
        s->sp + 40, word_at(scene.thread, s->sp + 40), word_at(scene.thread, s->sp + 40), 1, false, false};
    const struct known_stack read = {.space = s->pid,
                                     .tid = s->tid,
                                     .ip = 0x400180,
                                     .sp = s->sp + 16,
                                     .number = w.stacks[0].number,
                                     .code = 0x400100,
                                     .code_size = 0x100,
                                     .words = &word,
                                     .count = 1};
    cr_assert_eq(known_stacks_add(w.known, &read, NULL), 1);
    cr_expect_eq(take_caller(&w, &scene, 0x4000ff), STACK_RECORD_NEW);
    cr_expect_eq(take_caller(&w, &scene, 0x400100), STACK_RECORD_SAME);
    cr_expect_eq(take_caller(&w, &scene, 0x400200), STACK_RECORD_NEW);
    world_stop(&w);
}

/* What was read does not make room for callers. */
Test(verify, callers_take_no_stacks_place)
{
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    scene_at(&w, 0, 128, &scene);
    run(&w, &scene, false);
    for (uint32_t i = 0; i < RULE_STACKS; i++) {
        const struct stack_word word = {
            scene.sample.sp + 48 + 8 * i, function_start(1), function_start(1), 1, false, false};
        cr_assert_eq(known_stacks_add(w.known,
                                      &(struct known_stack){.space = scene.sample.pid,
                                                            .tid = scene.sample.tid,
                                                            .ip = 0x400180,
                                                            .sp = scene.sample.sp + 16,
                                                            .number = 2 * (i + 2),
                                                            .words = &word,
                                                            .count = 1},
                                      NULL),
                     1);
    }
    learn_caller(&w, &scene, 0);
    world_stop(&w);
}

/* Threads 0 and 1 are one process, which has the number of the former. */
Test(verify, only_followed_processes_or_threads_have_records)
{
    for (enum verify_follow follow = VERIFY_PIDS; follow <= VERIFY_TIDS; follow++) {
        for (uint32_t followed = 0; followed < 2; followed++) {
            struct world w;
            struct verify_config config = plain_config;
            config.follow = (__u8)follow;
            world_start(&w, &config, 1);
            for (uint32_t i = 0; i < THREADS; i++)
                machine_follow(w.threads[i].pid, false);
            machine_follow(w.threads[followed].tid, true);
            for (uint32_t i = 0; i < THREADS; i++) {
                w.threads[i].followed =
                    follow == VERIFY_TIDS ? i == followed : w.threads[i].pid == w.threads[followed].tid;
                cr_expect_eq(take_at(&w, i, 64), w.threads[i].followed ? STACK_RECORD_NEW : 0,
                             "%d: %u, of %u", follow, i, followed);
            }
            world_stop(&w);
        }
    }
}

/* With nothing compared, a stack is read again at its 2nd, 8th and 64th sample, within the budget. */
Test(verify, what_is_not_compared_is_read_again_now_and_then)
{
    struct world w;
    struct verify_config config = plain_config;
    config.compared = 0;
    config.burst = 4;
    config.rate = 0;
    world_start(&w, &config, 1);
    for (uint32_t n = 1; n <= 1000; n++) {
        const bool again = n == 2 || n == 8 || n == 64;
        cr_assert_eq(take_at(&w, 0, 64),
                     n == 1  ? STACK_RECORD_NEW
                     : again ? STACK_RECORD_AGAIN
                             : 0,
                     "sample %u", n);
        while (w.learned < w.stack_count)
            cr_expect_eq(learn_next(&w), 1);
    }
    /* Another thread, whose second sample is over the budget: it still has the one that is known. */
    for (uint32_t n = 1; n <= 100; n++)
        cr_assert_eq(take_at(&w, 1, 64), n == 1 ? STACK_RECORD_SAME : 0, "sample %u", n);
    world_stop(&w);
}

/* A page that is not there is filled in with what is no address; all others are read, up to the last one. */
Test(verify, a_stack_is_read_beyond_a_page_that_is_not_there)
{
    for (uint32_t depth = 16; depth < 70000; depth += 1016) {
        for (uint32_t page = 0; page <= 18; page++) {
            struct world w;
            struct scene scene;
            world_start(&w, &plain_config, 1);
            scene_at(&w, 0, depth, &scene);
            const struct thread *t = scene.thread;
            const uint64_t sp = scene.sample.sp, missing = (sp & ~UINT64_C(4095)) + page * UINT64_C(4096);
            const uint64_t base = sp + depth, outer_at = base - STACK_RECORD_OUTER;
            /* Of one that is larger than a record, the outermost bytes are read if those of the base's own page are there. */
            const bool deep = depth > RULE_STACK_MAX && (missing >= base || missing + 4096 < base);
            const uint64_t room = deep ? INNER : depth < RULE_STACK_MAX ? depth : RULE_STACK_MAX;
            const uint64_t from = missing <= sp ? 0 : missing - sp, to = missing + 4096 - sp;
            const uint64_t want = deep || to < room ? room : from < room ? from : room;
            struct machine_memory parts[2] = {{t->low, missing - t->low, t->bytes}};
            w.machine.memory = parts;
            w.machine.memory_count = 1;
            if (missing - t->low > REGION) {
                parts[0].size = REGION;
            } else if (missing + 4096 - t->low < REGION) {
                const uint64_t rest = missing + 4096 - t->low;
                parts[w.machine.memory_count++] =
                    (struct machine_memory){t->low + rest, REGION - rest, t->bytes + rest};
            }
            cr_assert_eq(take(&w, &scene), want ? STACK_RECORD_NEW : STACK_RECORD_GONE);
            const struct machine_record *r = record_of(&w);
            cr_assert_eq(r->outer_at, deep ? outer_at : 0, "%u bytes, page %u", depth, page);
            for (uint32_t i = 0; deep && i < STACK_RECORD_OUTER; i++) {
                const bool there = outer_at + i < missing || outer_at + i >= missing + 4096;
                cr_assert_eq(r->stack[INNER + i],
                             there ? t->bytes[outer_at + i - t->low] : STACK_RECORD_HOLE);
            }
            cr_assert_eq(r->head.size, want, "%u bytes, page %u: %u read", depth, page, r->head.size);
            world_stop(&w);
        }
    }
}

/* A word that is beyond what can be read from SP on is compared: among the outermost bytes, or by itself. */
Test(verify, a_stack_larger_than_a_record_is_known_by_its_outermost_words)
{
    enum { DEPTH = 75000 };
    static const struct shape shapes[] = {{2, {8, DEPTH - 16}, {false}, 0},
                                          {2, {8, DEPTH - STACK_RECORD_OUTER - 64}, {false}, 0}};
    for (uint32_t i = 0; i < 2; i++) {
        struct world w;
        struct scene scene;
        world_start(&w, &plain_config, 1);
        scene_at(&w, 0, DEPTH, &scene);
        scene.shape = &shapes[i];
        const uint64_t word = scene.sample.sp + shapes[i].offset[1];
        set_word(scene.thread, word, function_start(2));
        run(&w, &scene, false);
        learn_next(&w);
        cr_expect_eq(w.stack_count, 1u);
        run(&w, &scene, false);
        cr_expect_eq(w.stack_count, 1u, "it is the same");
        set_word(scene.thread, word, function_start(3));
        run(&w, &scene, false);
        cr_expect_eq(w.stack_count, 2u, "another caller is another stack");
        world_stop(&w);
    }
}

/* A stack that was copied before its base was known is cut; when the base is known, it is read again. */
Test(verify, a_stack_read_without_its_base_is_read_again)
{
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    scene_at(&w, 0, 30000, &scene);
    machine_set_base(scene.thread->tid, 0);
    run(&w, &scene, false);
    cr_assert_eq(w.machine.records[0].head.size, (uint32_t)STACK_RECORD_NO_BASE);
    machine_set_base(scene.thread->tid, scene.thread->low + REGION);
    const struct announced *a = &w.stacks[0];
    struct known_stack stack = {.space = a->pid,
                                .tid = scene.thread->tid,
                                .ip = a->ip,
                                .sp = a->sp,
                                .number = a->number,
                                .cut = STACK_RECORD_NO_BASE,
                                .row = a->ip,
                                .row_size = 1,
                                .words = a->words,
                                .count = a->shape->count};
    cr_expect_eq(known_stacks_add(w.known, &stack, NULL), 0);
    run(&w, &scene, false);
    cr_assert_eq(w.machine.records[0].head.size, 30000u);
    stack.number = w.machine.records[0].head.number;
    stack.cut = 0;
    cr_expect_eq(known_stacks_add(w.known, &stack, NULL), 1);
    run(&w, &scene, false);
    cr_expect_eq(w.stack_count, 2u, "now it is known");
    world_stop(&w);
}

/* Of a recursion, whose frames have a return address and a saved frame pointer, each word is compared. */
Test(verify, a_deep_recursion_is_known_by_all_of_its_words)
{
    enum { FRAME = 80, FRAMES = 490, DEPTH = FRAMES * FRAME + 64 };
    static struct shape shape = {.count = 2 * FRAMES};
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    scene_at(&w, 0, DEPTH, &scene);
    scene.shape = &shape;
    const uint64_t sp = scene.sample.sp;
    for (uint32_t i = 0; i < FRAMES; i++) {
        shape.offset[2 * i] = i * FRAME + 8;
        shape.offset[2 * i + 1] = i * FRAME + 16;
        shape.saved_bp[2 * i] = true;
        set_word(scene.thread, sp + shape.offset[2 * i], sp + (i + 1) * FRAME);
        set_word(scene.thread, sp + shape.offset[2 * i + 1],
                 function_start(i == 0 || i + 1 == FRAMES ? 1 : 2));
    }
    run(&w, &scene, false);
    learn_next(&w);
    cr_assert_eq(w.stack_count, 1u);
    run(&w, &scene, false);
    cr_expect_eq(w.stack_count, 1u, "it is the same");
    for (uint32_t i = 0; i < 2 * FRAMES; i += i < 60 || i > 900 ? 1 : 37) {
        const uint64_t word = shape.saved_bp[i] ? sp + (i / 2 + 1) * FRAME
                                                : function_start(i == 1 || i + 1 == 2 * FRAMES ? 1 : 2);
        const size_t before = w.stack_count;
        set_word(scene.thread, sp + shape.offset[i], word + (shape.saved_bp[i] ? 8 : 256));
        run(&w, &scene, false);
        cr_expect_eq(w.stack_count, before + 1, "word %u is another", i);
        set_word(scene.thread, sp + shape.offset[i], word);
    }
    run(&w, &scene, false);
    const size_t before = w.stack_count;
    run(&w, &scene, false);
    cr_expect_eq(w.stack_count, before);
    world_stop(&w);
}

/* The words of a recursion, from the second one on the same in each frame. */
static void set_recursion(const struct scene *scene, struct shape *shape, uint32_t frame)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        shape->offset[i] = i * frame + 8;
        set_word(scene->thread, scene->sample.sp + shape->offset[i], function_start(i == 0 ? 1 : 2) + 5);
    }
}

/* A copy of a recursion has its ends alone, and the record says what lies between; with one more caller in the middle, it is
 * written as far as that goes. */
Test(verify, a_copy_leaves_out_what_repeats)
{
    enum { FRAME = 64 };
    for (uint32_t depth = 12000; depth < 75000; depth += 15000) {
        static struct shape shape;
        struct world w;
        struct scene scene;
        world_start(&w, &plain_config, 1);
        for (uint32_t shorter = 0; shorter <= 3 * FRAME; shorter += FRAME) {
            scene_at(&w, 0, depth - shorter, &scene);
            shape.count = (depth < 57000 ? depth - shorter : 57000) / FRAME - 2;
            scene.shape = &shape;
            set_recursion(&scene, &shape, FRAME);
            const uint64_t other = scene.sample.sp + shape.offset[shape.count / 2];
            if (shorter == 2 * FRAME)
                set_word(scene.thread, other, function_start(3));
            run(&w, &scene, false);
            /* of what is not left out yet, all is written */
            cr_assert_eq(w.machine.record_count, depth > RULE_STACK_MAX && shorter == 0 ? 2u : 1u);
            const struct machine_record *r = record_of(&w);
            const uint32_t most = shorter == 0 ? 65536 : shorter == 2 * FRAME ? depth * 2 / 3 + 4500 : 8192;
            cr_expect_leq(r->written, most, "%u bytes deep: %zu written", depth, r->written);
            cr_expect_eq(r->outer_at != 0, depth - shorter > RULE_STACK_MAX);
            for (uint32_t i = 0; i < shape.count; i++)
                cr_expect_eq(
                    memcmp(r->stack + shape.offset[i],
                           scene.thread->bytes + (scene.sample.sp + shape.offset[i] - scene.thread->low), 8),
                    0, "%u bytes deep, word %u", depth, i);
            learn_next(&w);
        }
        world_stop(&w);
    }
}

static uint32_t fail; /* so many outputs from now on */

static bool ring_fails(void *world, uint64_t size)
{
    (void)world, (void)size;
    return fail && fail--;
}

static int take_word(struct world *w, uint32_t function)
{
    struct scene scene;
    scene_at(w, 0, 64, &scene);
    set_word(scene.thread, scene.sample.sp + 8, function_start(function));
    run(w, &scene, false);
    return w->machine.record_count ? w->machine.records[0].head.kind : 0;
}

/* Where only the note that nothing is known could be written, and where not even that. */
Test(verify, after_a_failed_record_the_next_one_is_written)
{
    for (uint32_t failures = 1; failures <= 2; failures++) {
        struct world w;
        world_start(&w, &plain_config, 1);
        w.machine.ring_full = ring_fails;
        cr_expect_eq(take_word(&w, 1), STACK_RECORD_NEW);
        cr_expect_eq(learn_next(&w), 1);
        cr_expect_eq(take_word(&w, 1), 0);
        fail = failures;
        cr_expect_eq(take_word(&w, 2), failures == 1 ? STACK_RECORD_NONE : 0);
        cr_expect_eq(w.dropped, failures - 1);
        cr_expect_eq(machine_counts().unwritten, failures);
        cr_expect_eq(take_word(&w, 1), STACK_RECORD_SAME);
        cr_expect_eq(take_word(&w, 1), 0);
        world_stop(&w);
    }
}

Test(verify, children_of_what_is_followed_are_followed)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    machine_follow(1000, true);
    machine_set_base(1001, 0x7000);
    machine_fork(1000, 1001, 1100, false);
    cr_expect(machine_follows(1100));
    cr_expect_eq(machine_base(1100), 0x7000, "on a copy of the stack");
    machine_fork(1100, 1100, 1200, false);
    cr_expect(machine_follows(1200));
    machine_fork(1000, 1001, 1002, true);
    cr_expect_not(machine_follows(1002), "with its process");
    cr_expect_eq(machine_base(1002), 0, "on a stack of its own");
    machine_fork(3000, 3000, 3100, false);
    cr_expect_not(machine_follows(3100));
    world_stop(&w);
}

/* As a report forgets what was announced for a thread when another one with its number starts. */
Test(verify, a_new_thread_with_a_used_number_has_no_announcements)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    const struct thread *t = &w.threads[1];
    cr_expect_eq(take_at(&w, 1, 64), STACK_RECORD_NEW);
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, 1, 64), 0);
    machine_fork(t->pid, t->pid, t->tid, true);
    machine_set_base(t->tid, t->low + REGION);
    cr_expect_eq(take_at(&w, 1, 64), STACK_RECORD_SAME);
    cr_expect_eq(take_at(&w, 1, 64), 0);
    world_stop(&w);
}

Test(verify, processes_with_the_same_code_share_known_stacks)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW);
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, 2, 64), STACK_RECORD_NEW);
    machine_place(w.threads[2].pid, w.threads[0].pid);
    cr_expect_eq(take_at(&w, 2, 64), STACK_RECORD_SAME);
    cr_expect_eq(take_at(&w, 2, 64), 0);
    machine_place(w.threads[2].pid, w.threads[2].pid);
    cr_expect_eq(take_at(&w, 2, 64), STACK_RECORD_NEW);
    world_stop(&w);
}

/* Files of processes, where each has them. ------------------------------------------------------------------- */
enum {
    PROGRAM = 0x400000,
    LIBRARY = 0x7f0000000000,
    FILE_BYTES = 0x10000,
    PROGRAM_FILE = 11,
    LIBRARY_FILE = 12
};

struct laid {
    struct machine_mapping mappings[2];
    struct stack_place places[2];
};

static void lay(struct world *w, uint64_t program, uint64_t library, uint64_t inode, struct laid *out)
{
    *out = (struct laid){{{program, FILE_BYTES, inode, 0}, {library, FILE_BYTES, 2, 3}},
                         {{program, program + FILE_BYTES, program, PROGRAM_FILE},
                          {library, library + FILE_BYTES, library - 3 * UINT64_C(4096), LIBRARY_FILE}}};
    w->machine.mappings = out->mappings;
    w->machine.mapping_count = 2;
    w->machine.exec = w->machine.code = program;
}

static uint64_t word_of(const struct machine_record *record, size_t at)
{
    uint64_t word;
    memcpy(&word, record->stack + at, sizeof word);
    return word;
}

/* Runs the program on a stack that lies at the thread's 64 bytes: PC in the program, callers in the library and in the program, at these
 * offsets. Returns the kind of its record. */
static int run_leaf(struct world *w, uint32_t thread, uint64_t leaf, uint64_t in_library, uint64_t in_program)
{
    struct thread *t = &w->threads[thread];
    const uint64_t sp = t->low + REGION - 64;
    const struct machine_memory all = {t->low, REGION, t->bytes};
    set_word(t, sp + 8, w->machine.mappings[1].start + in_library);
    set_word(t, sp + 24, w->machine.mappings[0].start + in_program);
    w->machine.memory = &all;
    w->machine.memory_count = 1;
    run_sample(&(struct machine_sample){
        .pid = t->pid, .tid = t->tid, .ip = w->machine.mappings[0].start + leaf, .sp = sp, .bp = sp});
    return w->machine.record_count ? w->machine.records[0].head.kind : 0;
}

static int run_laid(struct world *w, uint32_t thread, uint64_t in_library, uint64_t in_program)
{
    return run_leaf(w, thread, 0x120, in_library, in_program);
}

/* Makes the stack of the last record known. */
static int learn_laid(struct world *w, uint32_t thread, const struct laid *laid)
{
    const struct thread *t = &w->threads[thread];
    const struct machine_record *r = w->machine.records;
    const uint64_t sp = r->head.sp;
    struct stack_word words[] = {{sp + 8, word_at(t, sp + 8), word_at(t, sp + 8), 16, false, false},
                                 {sp + 24, word_at(t, sp + 24), word_at(t, sp + 24), 16, false, false}};
    cr_assert_neq(r->code.version, 0u);
    cr_assert_eq(r->code.at, laid->places[0].at);
    if (r->code.file.inode || r->code.file.changed)
        machine_number(&r->code.file, PROGRAM_FILE);
    return known_stacks_add(w->known,
                            &(struct known_stack){.space = t->pid,
                                                  .tid = t->tid,
                                                  .ip = r->head.ip,
                                                  .sp = sp,
                                                  .number = r->head.number,
                                                  .code = r->head.ip,
                                                  .code_size = 16,
                                                  .row = r->head.ip,
                                                  .row_size = 16,
                                                  .words = words,
                                                  .count = 2,
                                                  .places = laid->places,
                                                  .place_count = 2,
                                                  .base = r->code.base,
                                                  .version = r->code.version},
                            NULL);
}

/* A world in which a stack of these files is known. */
static void world_start_laid(struct world *w, struct laid *out)
{
    world_start(w, &plain_config, 1);
    lay(w, PROGRAM, LIBRARY, 1, out);
    cr_expect_eq(run_laid(w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    cr_expect_eq(learn_laid(w, 0, out), 1);
}

/* Makes the stack of the last record's caller known, in 64 bytes of the library. */
static int learn_laid_caller(struct world *w, uint32_t thread, const struct laid *laid)
{
    const struct thread *t = &w->threads[thread];
    const struct machine_record *r = w->machine.records;
    const uint64_t sp = r->head.sp, ip = word_at(t, sp + 8);
    const struct stack_word word = {sp + 24, word_at(t, sp + 24), word_at(t, sp + 24), 16, false, false};
    return known_stacks_add(w->known,
                            &(struct known_stack){.space = t->pid,
                                                  .tid = t->tid,
                                                  .ip = ip,
                                                  .sp = sp + 16,
                                                  .number = r->head.number,
                                                  .of_caller = true,
                                                  .code = ip,
                                                  .code_size = 64,
                                                  .words = &word,
                                                  .count = 1,
                                                  .places = laid->places,
                                                  .place_count = 2,
                                                  .base = r->code.base,
                                                  .version = r->code.version},
                            NULL);
}

/* Tells that functions of 16 bytes at these offsets have their return address 8 bytes from SP. The last one: 0. */
static void tell_rows(uint32_t file, const uint16_t *at)
{
    static struct code_rows rows;
    rows = (struct code_rows){.count = 1, .rule = {CODE_ROW_NONE}};
    for (; *at; at++) {
        rows.start[rows.count] = *at;
        rows.rule[rows.count++] = 8;
        rows.start[rows.count] = (uint16_t)(*at + 16);
        rows.rule[rows.count++] = CODE_ROW_NONE;
    }
    machine_rows(&(struct code_rows_key){file, 0}, &rows);
}

static void expect_placed(const struct world *w, uint64_t base, const struct laid *laid)
{
    const struct machine_record *r = w->machine.records;
    cr_assert_eq(r->placed.count, 2u);
    cr_expect_eq(r->placed.base, base);
    cr_expect_eq(r->placed_files[0], laid->places[0].at);
    cr_expect_eq(r->placed_files[1], laid->places[1].at);
}

Test(verify, stacks_are_known_wherever_their_files_lie)
{
    struct world w;
    struct laid here, there;
    world_start_laid(&w, &here);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_SAME, "the library's place is a guess");
    expect_placed(&w, w.threads[0].low + REGION, &here);
    run_laid(&w, 0, 0x404, 0x800);
    cr_expect_eq(run_laid(&w, 0, 0x404, 0x800), 0, "where it was read, nothing is to be told");
    lay(&w, PROGRAM + 0x5000, LIBRARY + 0x123000, 1, &there);
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x800), STACK_RECORD_SAME);
    expect_placed(&w, w.threads[2].low + REGION, &there);
    cr_expect_eq(run_laid(&w, 2, 0x408, 0x800), 0);
    cr_expect_eq(run_laid(&w, 2, 0x410, 0x800), STACK_RECORD_NEW, "another function of the library");
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x7f0), STACK_RECORD_NEW, "... of the program");
    world_stop(&w);
}

/* The last record is of a stack of an earlier recording. */
static void start_kept(struct world *w, struct laid *laid)
{
    world_start(w, &plain_config, 1);
    lay(w, PROGRAM, LIBRARY, 1, laid);
    cr_expect_eq(run_laid(w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    w->machine.records[0].head.number = STACK_NUMBER_KEPT;
    w->machine.records[0].code.version = KNOWN_STACK_ANY;
}

/* A stack of an earlier recording lies elsewhere in each process; one whose frames nobody tells is read as a new one. */
Test(verify, a_kept_stack_can_be_unknown_again)
{
    struct world w;
    struct laid laid;
    start_kept(&w, &laid);
    cr_expect_eq(learn_laid(&w, 0, &laid), 1);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_SAME);
    cr_expect_eq(w.machine.records[0].head.number, STACK_NUMBER_KEPT);
    expect_placed(&w, w.threads[0].low + REGION, &laid);
    known_stacks_retract(w.known, STACK_NUMBER_KEPT + 2);
    run_laid(&w, 0, 0x404, 0x800);
    cr_expect_neq(run_laid(&w, 0, 0x404, 0x800), STACK_RECORD_NEW);
    known_stacks_retract(w.known, STACK_NUMBER_KEPT);
    cr_expect_eq(run_laid(&w, 0, 0x404, 0x800), STACK_RECORD_NEW);
    cr_expect_eq(learn_laid(&w, 0, &laid), 1);
    known_stacks_retract(w.known, 0);
    cr_expect_neq(run_laid(&w, 0, 0x404, 0x800), STACK_RECORD_NEW, "it is one of this recording");
    world_stop(&w);
}

/* ... as often as there are blocks for words, which later stacks get. */
Test(verify, words_of_what_is_unknown_again_are_free_once)
{
    struct world w;
    struct laid laid;
    start_kept(&w, &laid);
    for (uint32_t i = 0; i < VERIFY_BLOCKS; i++) {
        cr_assert_eq(learn_laid(&w, 0, &laid), 1);
        known_stacks_retract(w.known, STACK_NUMBER_KEPT);
    }
    for (uint64_t at = 0x800; at > 0x780; at -= 16) {
        cr_assert_eq(run_laid(&w, 0, 0x400, at), STACK_RECORD_NEW);
        cr_assert_eq(learn_laid(&w, 0, &laid), 1);
    }
    for (uint64_t at = 0x800; at > 0x780; at -= 16)
        cr_expect_neq(run_laid(&w, 0, 0x400, at), STACK_RECORD_NEW, "%#lx", (unsigned long)at);
    world_stop(&w);
}

/* The vDSO is in no file, and memory that a program made executable is not in one either. */
Test(verify, what_the_kernel_maps_is_known_wherever_it_is)
{
    struct world w;
    struct laid here, there;
    world_start(&w, &plain_config, 1);
    lay(&w, PROGRAM, LIBRARY, 0, &here);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    cr_expect_eq(w.machine.records[0].code.file.changed, (uint64_t)FILE_BYTES);
    cr_expect_eq(learn_laid(&w, 0, &here), 1);
    cr_expect_neq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    lay(&w, PROGRAM + 0x5000, LIBRARY + 0x123000, 0, &there);
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x800), STACK_RECORD_SAME);
    expect_placed(&w, w.threads[2].low + REGION, &there);
    there.mappings[0].page = there.mappings[0].start >> 12;
    w.machine.exec++;
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x800), STACK_RECORD_NEW);
    cr_expect_eq(w.machine.records[0].code.file.changed, 0u);
    world_stop(&w);
}

Test(verify, files_that_move_are_told_anew)
{
    struct world w;
    struct laid before, after;
    world_start_laid(&w, &before);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_SAME);
    run_laid(&w, 0, 0x400, 0x800);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), 0);
    lay(&w, PROGRAM, LIBRARY + 0x9000, 1, &after); /* it was closed, and opened elsewhere */
    w.machine.code++;
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_SAME);
    expect_placed(&w, w.threads[0].low + REGION, &after);
    world_stop(&w);
}

Test(verify, another_file_at_the_same_place_has_other_stacks)
{
    struct world w;
    struct laid laid;
    world_start_laid(&w, &laid);
    lay(&w, PROGRAM, LIBRARY, 7, &laid); /* another build of the program */
    w.machine.exec++;
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    laid.mappings[0].inode = 1;
    laid.mappings[1].inode = 9; /* another library, of which the program knows a number */
    machine_number(&(struct stack_file){.inode = 9, .page = 3, .device = 1}, 99);
    w.machine.exec++;
    run_laid(&w, 2, 0x400, 0x800); /* the program's file is looked for */
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x808), STACK_RECORD_NEW);
    world_stop(&w);
}

/* A stack fits while another file lies there that has no number yet. Once it has one, it does not any more. */
Test(verify, a_place_that_was_guessed_is_given_up)
{
    struct world w;
    struct laid laid;
    world_start_laid(&w, &laid);
    for (unsigned i = 0; i < 3; i++)
        run_laid(&w, 0, 0x400, 0x800);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), 0, "it fits, and its place is known");
    machine_number(&(struct stack_file){.inode = laid.mappings[1].inode, .page = 3, .device = 1}, 99);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), 0, "nothing asks for it");
    run_leaf(&w, 0, LIBRARY - PROGRAM + 0x400, 0x400, 0x800);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    world_stop(&w);
}

/* Once for each file, process and its changes. */
Test(verify, mappings_are_looked_for_once)
{
    struct world w;
    struct laid laid;
    world_start_laid(&w, &laid);
    for (unsigned i = 0; i < 10; i++)
        cr_expect(run_laid(&w, 0, 0x400, 0x800) == 0 || i < 2);
    cr_expect_eq(w.machine.found, 3u, "the new one, then one in each sample until both are known");
    w.machine.code++;
    for (unsigned i = 0; i < 10; i++)
        run_laid(&w, 0, 0x400, 0x800);
    cr_expect_eq(w.machine.found, 5u);
    world_stop(&w);
}

Test(verify, code_outside_of_files_keeps_a_stack_in_its_space)
{
    struct world w;
    struct laid here, there;
    world_start(&w, &plain_config, 1);
    lay(&w, PROGRAM, LIBRARY, 1, &here);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), STACK_RECORD_NEW);
    here.places[1].number = 0;
    here.places[1].end = here.places[1].start; /* the learner knows of no file there */
    cr_expect_eq(learn_laid(&w, 0, &here), 1);
    cr_expect_eq(run_laid(&w, 0, 0x400, 0x800), 0);
    lay(&w, PROGRAM, LIBRARY + 0x1000, 1, &there);
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x800), STACK_RECORD_NEW);
    world_stop(&w);
}

/* Of a callee that was read elsewhere it is known where its return address is. */
Test(verify, a_callee_of_known_callers_is_known)
{
    enum { CALLEE = 0x120, OTHER_CALLEE = 0x520, UNREAD = 0x720 };
    struct world w;
    struct laid here, there;
    world_start(&w, &plain_config, 1);
    lay(&w, PROGRAM, LIBRARY, 1, &here);
    machine_number(&(struct stack_file){.inode = 2, .page = 3, .device = 1}, LIBRARY_FILE);
    cr_expect_eq(run_leaf(&w, 0, CALLEE, 0x400, 0x800), STACK_RECORD_NEW);
    const uint32_t number = w.machine.records[0].head.number;
    cr_expect_eq(learn_laid(&w, 0, &here), 1);
    cr_expect_eq(learn_laid_caller(&w, 0, &here), 1);
    cr_expect_eq(run_leaf(&w, 0, OTHER_CALLEE, 0x400, 0x800), STACK_RECORD_NEW, "no rows were told yet");
    tell_rows(PROGRAM_FILE, (const uint16_t[]){CALLEE, OTHER_CALLEE, 0});
    cr_expect_eq(run_leaf(&w, 0, OTHER_CALLEE, 0xa00, 0xb00), STACK_RECORD_NEW);
    cr_expect_eq(learn_laid(&w, 0, &here), 1);
    cr_expect_eq(run_leaf(&w, 0, OTHER_CALLEE, 0x420, 0x800), STACK_RECORD_SAME);
    cr_expect_eq(w.machine.records[0].head.number, number);
    cr_expect_eq(w.machine.records[0].placed.count, 0u);
    cr_expect_eq(run_leaf(&w, 0, OTHER_CALLEE, 0x440, 0x800), STACK_RECORD_NEW, "another caller");
    cr_expect_eq(run_leaf(&w, 0, OTHER_CALLEE, 0x420, 0x810), STACK_RECORD_NEW, "its caller is another");
    cr_expect_eq(run_leaf(&w, 0, UNREAD, 0x400, 0x800), STACK_RECORD_NEW);
    lay(&w, PROGRAM + 0x1000, LIBRARY + 0x7000, 1, &there);
    run_leaf(&w, 2, OTHER_CALLEE, 0xa00, 0xb00); /* the library is found */
    cr_expect_eq(run_leaf(&w, 2, OTHER_CALLEE, 0x420, 0x800), STACK_RECORD_SAME);
    cr_expect_eq(w.machine.records[0].head.number, number);
    expect_placed(&w, w.threads[2].low + REGION, &there);
    cr_expect_eq(w.machine.records[0].placed.depth, 64u - 16u);
    world_stop(&w);
}

/* Of a stack whose caller's caller is known. */
Test(verify, a_new_stack_is_written_up_to_a_known_one)
{
    enum { LEAF = 0x720, IN_LIBRARY = 0x900, IN_PROGRAM = 0x800, OUTERMOST = 0x880 };
    struct world w;
    struct laid laid;
    struct verify_config config = plain_config;
    config.joins = 1;
    world_start(&w, &config, 1);
    lay(&w, PROGRAM, LIBRARY, 1, &laid);
    machine_number(&(struct stack_file){.inode = 2, .page = 3, .device = 1}, LIBRARY_FILE);
    const struct thread *t = &w.threads[0];
    const uint64_t sp = t->low + REGION - 64, outermost = PROGRAM + OUTERMOST;
    set_word(&w.threads[0], sp + 40, outermost);
    set_word(&w.threads[0], sp + 48, 1);
    cr_expect_eq(run_leaf(&w, 0, LEAF, IN_LIBRARY, IN_PROGRAM), STACK_RECORD_NEW);
    machine_number(&w.machine.records[0].code.file, PROGRAM_FILE);
    const struct stack_word word = {sp + 40, outermost, outermost, 1, false, false};
    cr_expect_eq(known_stacks_add(w.known,
                                  &(struct known_stack){.space = t->pid,
                                                        .tid = t->tid,
                                                        .ip = PROGRAM + IN_PROGRAM,
                                                        .sp = sp + 32,
                                                        .number = w.machine.records[0].head.number,
                                                        .of_caller = true,
                                                        .code = PROGRAM + IN_PROGRAM,
                                                        .code_size = 16,
                                                        .words = &word,
                                                        .count = 1,
                                                        .places = laid.places,
                                                        .place_count = 2,
                                                        .base = w.machine.records[0].code.base,
                                                        .version = w.machine.records[0].code.version},
                                  NULL),
                 1);
    tell_rows(PROGRAM_FILE, (const uint16_t[]){LEAF, 0});
    run_leaf(&w, 0, LEAF, IN_LIBRARY, IN_PROGRAM); /* the program's place is found */
    cr_expect_eq(run_leaf(&w, 0, LEAF, IN_LIBRARY, IN_PROGRAM), STACK_RECORD_NEW, "the library's");
    cr_expect_eq(word_of(&w.machine.records[0], 48), 1u,
                 "no rows of the library were told: the whole stack is written");
    tell_rows(LIBRARY_FILE, (const uint16_t[]){0x3000 + IN_LIBRARY - 8, 0});
    cr_expect_eq(run_leaf(&w, 0, LEAF, IN_LIBRARY, IN_PROGRAM), STACK_RECORD_NEW);
    const struct machine_record *r = &w.machine.records[0];
    cr_expect_eq(r->head.size, 48u, "up to the last word");
    cr_expect_eq(word_of(r, 8), LIBRARY + IN_LIBRARY);
    cr_expect_eq(word_of(r, 24), PROGRAM + IN_PROGRAM);
    cr_expect_eq(word_of(r, 40), outermost, "the known stack's word");
    cr_expect_eq(word_of(r, 32), UINT64_C(0xfdfdfdfdfdfdfdfd), "nothing else of it");
    set_word(&w.threads[0], sp + 40, outermost + 64);
    cr_expect_eq(run_leaf(&w, 0, LEAF, IN_LIBRARY, IN_PROGRAM), STACK_RECORD_NEW);
    cr_expect_eq(word_of(r, 48), 1u, "another stack");
    world_stop(&w);
}

/* Before the recorder could tell its base. */
Test(verify, a_main_threads_base_is_the_kernels)
{
    struct world w;
    struct laid laid;
    world_start_laid(&w, &laid);
    machine_set_base(w.threads[2].tid, 0);
    w.machine.start_stack = w.threads[2].low + REGION;
    cr_expect_eq(run_laid(&w, 2, 0x400, 0x800), STACK_RECORD_SAME);
    cr_expect_eq(w.machine.records[0].placed.base, w.machine.start_stack);
    world_stop(&w);
}

Test(verify, a_child_has_what_its_parent_knows)
{
    for (enum verify_follow follow = VERIFY_ALL; follow <= VERIFY_WITHIN; follow++) {
        struct world w;
        struct verify_config config = plain_config;
        config.follow = (__u8)follow;
        world_start(&w, &config, 1);
        machine_follow(1000, true);
        machine_place(1000, 7);
        machine_fork(1000, 1000, 1001, true);
        machine_fork(1000, 1000, 1100, false);
        machine_fork(1300, 1300, 1400, false);
        cr_expect_eq(machine_space(1001), 0u, "a thread is no process");
        cr_expect_eq(machine_space(1100), 7u);
        cr_expect_eq(machine_space(1400), 0u);
        world_stop(&w);
    }
}

Test(verify, everyone_is_followed_but_the_recorder)
{
    struct world w;
    struct verify_config config = plain_config;
    config.follow = VERIFY_EVERYONE;
    world_start(&w, &config, 1);
    const uint32_t pid = w.threads[0].pid;
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW);
    world_stop(&w);
    config.self = pid;
    world_start(&w, &config, 1);
    w.threads[0].followed = false; /* no record of it may come */
    cr_expect_eq(take_at(&w, 0, 64), 0);
    cr_expect_eq(take_at(&w, 2, 64), STACK_RECORD_NEW, "another process");
    world_stop(&w);
}

Test(verify, samples_of_other_cgroups_are_left_out)
{
    struct world w;
    struct verify_config config = plain_config;
    config.follow = VERIFY_WITHIN;
    config.cgroup = 7;
    config.level = 1;
    world_start(&w, &config, 1);
    struct machine_sample sample = {.pid = w.threads[0].pid, .tid = w.threads[0].tid, .ip = 1, .sp = 8};
    sample.cgroups[0] = 7;
    cr_expect_eq(machine_sample(&sample), 0);
    cr_expect_eq(w.machine.record_count, 0);
    sample.cgroups[1] = 7;
    sample.cgroups[2] = 8;
    cr_expect_eq(machine_sample(&sample), 1);
    cr_expect_gt(w.machine.record_count, 0);
    world_stop(&w);
}

Test(verify, samples_of_other_users_are_left_out)
{
    struct world w;
    struct verify_config config = plain_config;
    config.follow = VERIFY_EVERYONE;
    config.one_user = 1;
    config.user = 1000;
    world_start(&w, &config, 1);
    struct machine_sample sample = {.pid = w.threads[0].pid, .tid = w.threads[0].tid, .ip = 1, .sp = 8};
    cr_expect_eq(machine_sample(&sample), 0);
    cr_expect_eq(w.machine.record_count, 0);
    sample.user = 1000;
    cr_expect_eq(machine_sample(&sample), 1);
    cr_expect_gt(w.machine.record_count, 0);
    world_stop(&w);
}

Test(verify, what_followed_threads_start_is_followed)
{
    struct world w;
    struct verify_config config = plain_config;
    config.follow = VERIFY_TIDS;
    world_start(&w, &config, 1);
    machine_follow(2001, true); /* of process 2000 */
    machine_fork(2000, 2001, 2002, true);
    cr_expect(machine_follows(2002));
    machine_fork(2000, 2000, 2003, true);
    cr_expect_not(machine_follows(2003));
    machine_fork(2000, 2001, 2100, false);
    cr_expect(machine_follows(2100));
    world_stop(&w);
}

/* Of 40 stacks, and 10 more a second, a process without end takes no more than half of what is left. */
Test(verify, a_process_leaves_others_what_they_take)
{
    struct world w;
    struct verify_config config = plain_config;
    config.follow = VERIFY_EVERYONE;
    config.burst = 40;
    config.rate = 10;
    world_start(&w, &config, 1);
    uint32_t greedy = 0, modest = 0;
    for (uint32_t second = 0; second < 20; second++) {
        for (uint32_t i = 0; i < 40; i++)
            greedy += take_at(&w, 0, 64 + 8 * (40 * second + i)) == STACK_RECORD_NEW;
        for (uint32_t i = 0; i < 3; i++)
            modest += take_at(&w, 2, 64 + 8 * (3 * second + i)) == STACK_RECORD_NEW;
        w.machine.now += UINT64_C(1) << 30;
    }
    cr_expect_eq(modest, 60, "%u", modest);
    cr_expect(greedy > 120 && greedy < 195, "%u", greedy);
    world_stop(&w);
}

/* Not even for its time: a full ring uses nothing up. */
Test(verify, stacks_without_room_take_nothing_of_the_budget)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    for (uint32_t cpu = 0; cpu < MACHINE_CPUS; cpu++)
        machine_room(cpu, 63);
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NONE);
    cr_expect_eq(machine_counts().copies, 0);
    cr_expect_eq(machine_counts().crowded, 1);
    world_stop(&w);
}

/* As the rest of the ring is for samples and forks. */
Test(verify, stacks_take_no_more_of_the_ring_than_their_capacity)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    for (uint32_t cpu = 0; cpu < MACHINE_CPUS; cpu++)
        machine_room(cpu, 100);
    cr_expect_eq(take_word(&w, 1), STACK_RECORD_NEW); /* of 64 bytes and the words above */
    cr_expect_eq(take_word(&w, 2), STACK_RECORD_NONE);
    cr_expect_eq(machine_counts().crowded, 1);
    cr_expect_eq(take_word(&w, 2), 0, "that nothing is known is told once");
    for (uint32_t cpu = 0; cpu < MACHINE_CPUS; cpu++)
        machine_room(cpu, 100);
    cr_expect_eq(take_word(&w, 2), STACK_RECORD_NEW);
    world_stop(&w);
}

/* The frame pointer that unwinding did not use makes no difference. */
Test(verify, a_frame_pointer_that_was_not_used_is_not_compared)
{
    struct world w;
    struct scene scene;
    world_start(&w, &plain_config, 1);
    for (uint32_t i = 0; i < 2 * RULE_STACKS; i++) { /* before any is learned */
        scene_at(&w, 0, 64, &scene);
        scene.sample.bp += i;
        run(&w, &scene, false);
    }
    cr_assert_eq(w.stack_count, 2u * RULE_STACKS);
    while (w.learned < w.stack_count)
        cr_expect_eq(learn_next(&w), 1);
    scene_at(&w, 0, 64, &scene);
    run(&w, &scene, false);
    cr_expect_eq(w.silent, 1u, "the last one is an alias of the first");
    world_stop(&w);
}

/* More often than there are blocks: none is lost. */
Test(verify, a_stack_that_finds_no_room_is_new_again)
{
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW);
    w.machine.no_memory = true;
    for (uint32_t i = 0; i < VERIFY_BLOCKS + 10; i++) {
        w.learned = 0;
        cr_assert_eq(learn_next(&w), 0);
    }
    cr_expect_eq(take_at(&w, 0, 64), STACK_RECORD_NEW);
    w.machine.no_memory = false;
    cr_expect_eq(learn_next(&w), 1);
    cr_expect_eq(take_at(&w, 0, 64), 0);
    known_stacks_forget(w.known, w.threads[0].pid);
    cr_expect_eq(machine_known(), 0u);
    world_stop(&w);
}

/* As blocks run out, the oldest stacks are forgotten; each of those that are left fits as before. */
Test(verify, the_oldest_stacks_make_capacity)
{
    enum { COUNT = VERIFY_BLOCKS / 16 + 500, WORDS = RULE_WORDS * RULE_BLOCKS_MAX };
    static struct stack_word words[WORDS + 1];
    struct world w;
    world_start(&w, &plain_config, 1);
    struct thread *t = &w.threads[0];
    const uint64_t sp = t->low;
    for (uint32_t i = 0; i <= WORDS; i++) {
        words[i] = (struct stack_word){
            sp + 8 * (i + 1), function_start(i % FUNCTIONS), function_start(i % FUNCTIONS), 1, false, false};
        set_word(t, words[i].address, words[i].low);
    }
    struct known_stack stack = {
        .space = t->pid, .tid = t->tid, .sp = sp, .words = words, .count = WORDS + 1, .number = 2};
    cr_expect_eq(known_stacks_add(w.known, &stack, NULL), 0, "one word too many");
    stack.count = WORDS;
    for (uint32_t i = 0; i < COUNT; i++) {
        stack.ip = (uint64_t)i << 12;
        stack.number = 2 * (i + 1);
        cr_assert_eq(known_stacks_add(w.known, &stack, NULL), 1);
    }
    const size_t left = machine_known();
    cr_expect(left > VERIFY_BLOCKS / 16 - 100 && left < VERIFY_BLOCKS / 16, "%zu", left);
    struct machine_memory all = {t->low, REGION, t->bytes};
    w.machine.memory = &all;
    w.machine.memory_count = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        machine_sample(
            &(struct machine_sample){.pid = t->pid, .tid = t->tid, .ip = (uint64_t)i << 12, .sp = sp});
        cr_assert_eq(w.machine.record_count, 1u);
        const bool known = i >= COUNT - left;
        cr_expect_eq(w.machine.records[0].head.kind, known ? STACK_RECORD_SAME : STACK_RECORD_NEW);
        cr_expect(!known || w.machine.records[0].head.number == 2 * (i + 1));
    }
    known_stacks_forget(w.known, t->pid);
    cr_expect_eq(machine_known(), 0u);
    world_stop(&w);
}

/* A precise sample, 8 bytes below its return address, whose stack is read when SP is `later` bytes above its own, behind an
 * instruction with these bytes. */
static int take_precise(struct world *w, uint32_t thread, int64_t later, const char *code)
{
    struct scene scene;
    scene_at(w, thread, 64, &scene);
    scene.sample.late_sp = scene.sample.sp + (uint64_t)later;
    const struct machine_memory parts[] = {
        {scene.thread->low, REGION, scene.thread->bytes},
        {scene.sample.ip, 2, (const uint8_t *)code},
    };
    w->machine.memory = parts;
    w->machine.memory_count = 2;
    cr_assert_eq(machine_sample_precise(&scene.sample), 1);
    if (!w->machine.record_count)
        return 0;
    const struct stack_record *r = &w->machine.records[0].head;
    if (r->kind == STACK_RECORD_NEW) {
        const struct stack_word word = {
            .address = scene.sample.sp + 8, .low = function_start(1), .size = 255};
        const struct known_stack stack = {.space = machine_space(scene.thread->pid),
                                          .tid = scene.thread->tid,
                                          .ip = scene.sample.ip,
                                          .sp = scene.sample.sp,
                                          .number = r->number,
                                          .words = &word,
                                          .count = 1};
        cr_assert_eq(known_stacks_add(w->known, &stack, NULL), 1);
    }
    return r->kind;
}

Test(verify, precise_samples_count_while_their_function_goes_on)
{
    static const char plain[] = "\x90\x90";
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_assert_eq(take_precise(&w, 0, 8, plain), STACK_RECORD_RETURNED,
                 "something above SP may have been popped");
    cr_assert_eq(take_precise(&w, 0, 0, plain), STACK_RECORD_NEW);
    cr_assert_eq(take_precise(&w, 0, 8, plain), 0, "it did not return: the return address is in use");
    cr_assert_eq(take_precise(&w, 0, -200, plain), 0, "it called another one");
    const uint64_t returned = machine_counts().returned;
    cr_assert_eq(take_precise(&w, 0, 16, plain), STACK_RECORD_RETURNED, "it returned");
    cr_assert_eq(take_precise(&w, 0, 16, plain), 0, "as before");
    cr_assert_eq(take_precise(&w, 0, 0, plain), STACK_RECORD_SAME);
    cr_assert_eq(take_precise(&w, 0, UINT32_MAX, plain), STACK_RECORD_RETURNED, "on another stack");
    cr_assert_eq(take_precise(&w, 0, INT64_C(1) << 32, plain), 0);
    cr_assert_eq(machine_counts().returned, returned + 4);
    world_stop(&w);
}

Test(verify, precise_samples_at_a_return_are_refused)
{
    static const char *const returns[] = {"\xc3\x90", "\xc2\x08", "\xf3\xc3", "\xf2\xc3"};
    struct world w;
    world_start(&w, &plain_config, 1);
    cr_assert_eq(take_precise(&w, 0, 0, "\xf3\x90"), STACK_RECORD_NEW);
    for (size_t i = 0; i < sizeof returns / sizeof *returns; i++) {
        cr_assert_eq(take_precise(&w, 0, 0, returns[i]), STACK_RECORD_RETURNED, "%zu", i);
        cr_assert_eq(take_precise(&w, 0, 0, "\x90\xc3"), STACK_RECORD_SAME);
    }
    world_stop(&w);
}

/* As the kernel has them: a task, its probes, their instances, the area with the trampoline. */
struct kernel_instance {
    uint64_t stack, original;
    const struct kernel_instance *next;
};
struct kernel_task {
    const struct kernel_task *mm, *probes, *area; /* itself */
    const struct kernel_instance *instances;
    uint64_t trampoline;
};

/* The instance is innermost, or not; another one's frame has gone, and its slot has other words. */
static void check_probed_return(size_t innermost)
{
    enum { TRAMPOLINE = 0x7000 };
    struct verify_config config = plain_config;
    struct kernel_task task = {&task, &task, &task, NULL, TRAMPOLINE};
    struct world w;
    struct scene scene;
    config.hooks = (struct verify_hooks){
        .task_mm = offsetof(struct kernel_task, mm),
        .task_uprobes = offsetof(struct kernel_task, probes),
        .instances = offsetof(struct kernel_task, instances),
        .mm_area = offsetof(struct kernel_task, area),
        .area_address = offsetof(struct kernel_task, trampoline),
        .stack = offsetof(struct kernel_instance, stack),
        .original = offsetof(struct kernel_instance, original),
        .next = offsetof(struct kernel_instance, next),
    };
    world_start(&w, &config, 1);
    w.machine.task = &task;
    scene_at(&w, 0, 64, &scene);
    const uint64_t slot = scene.sample.sp + 8, other = scene.sample.sp + 16;
    struct kernel_instance list[2];
    list[innermost] = (struct kernel_instance){slot, function_start(1), innermost ? NULL : &list[1]};
    list[!innermost] = (struct kernel_instance){other, function_start(2), innermost ? &list[1] : NULL};
    task.instances = &list[0];
    set_word(scene.thread, slot, TRAMPOLINE);
    set_word(scene.thread, other, 77);
    const struct machine_memory all = {scene.thread->low, REGION, scene.thread->bytes};
    w.machine.memory = &all;
    w.machine.memory_count = 1;
    cr_assert_eq(machine_sample(&scene.sample), 1);
    cr_assert_eq(w.machine.record_count, 1);
    const struct machine_record *r = &w.machine.records[0];
    uint64_t words[3];
    cr_assert_eq(r->head.kind, STACK_RECORD_NEW);
    memcpy(words, r->stack, sizeof words);
    cr_expect_eq(words[1], function_start(1), "what the probe replaced");
    cr_expect_eq(words[2], 77, "what is no trampoline's stays");
    const struct stack_word word = {.address = slot, .low = function_start(1), .size = 255};
    const struct known_stack stack = {.space = machine_space(scene.thread->pid),
                                      .tid = scene.thread->tid,
                                      .ip = scene.sample.ip,
                                      .sp = scene.sample.sp,
                                      .number = r->head.number,
                                      .words = &word,
                                      .count = 1};
    cr_assert_eq(known_stacks_add(w.known, &stack, NULL), 1);
    cr_assert_eq(machine_sample(&scene.sample), 1);
    cr_expect_eq(w.machine.record_count, 0, "it is known now");
    set_word(scene.thread, slot, function_start(1));
    task.instances = NULL;
    cr_assert_eq(machine_sample(&scene.sample), 1);
    cr_expect_eq(w.machine.record_count, 0, "without the probe, too");
    world_stop(&w);
}

Test(verify, return_addresses_that_probes_replaced_are_put_back)
{
    check_probed_return(0);
    check_probed_return(1);
}
