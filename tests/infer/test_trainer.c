/* From unwound stacks of this program to a map that knows them, and back from samples to the same paths. */
#include <criterion/criterion.h>

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "infer/samples/trainer.h"
#include "pathmap/map/partial.h"
#include "tests/infer/world.h"

enum { DUMP = 1 << 17, STEPS = 20000 };

static struct sample sample;
static uint8_t dump[DUMP];

APART static int leaf(int n)
{
    SELF_CAPTURE(&sample, dump, DUMP);
    return n + 1;
}

APART static int left(int n)
{
    return leaf(n) + 1;
}

APART static int right(int n)
{
    volatile char *capacity = alloca((size_t)n + 100);
    capacity[0] = 1;
    return leaf(n) + capacity[0];
}

APART static int recursive(int n)
{
    volatile int local = n; /* or the compiler makes a loop of it */
    local += n ? recursive(n - 1) : left(1);
    return local;
}

static int train(struct world *w, struct trainer *trainer, enum unwind_end *end)
{
    struct fathom_error err = {0};
    int frames = trainer_add(trainer, w->self.process, &sample, end, &err);
    cr_assert_geq(frames, 0, "%s", err.text);
    return frames;
}

static const char *tail(const char *path, size_t length)
{
    return strlen(path) > length ? path + strlen(path) - length : path;
}

static void expect_resolves(struct world *w, const struct sample *s, const char *expected)
{
    struct resolved r;
    cr_assert_eq(world_resolve(w, w->self.process, s, &r, NULL), 0);
    cr_assert_neq(r.kind, RESOLVED_UNKNOWN, "%s", unknown_reason_text(r.reason));
    cr_assert_eq(r.paths, 1u);
    cr_assert_str_eq(tail(world_path(w, r.node), strlen(expected)), expected);
}

Test(trainer, trained_paths_are_found_again)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    self_set_stack(&w->self);
    struct sample shots[3];
    for (int i = 0; i < 3; i++) {
        i == 0 ? left(1) : i == 1 ? right(5) : recursive(10);
        enum unwind_end end;
        int frames = train(w, trainer, &end);
        cr_assert_eq(end, UNWIND_ROOT, "%s", unwind_end_text(end));
        cr_assert_gt(frames, i == 2 ? 13 : 3);
        shots[i] = sample;
    }
    train(w, trainer, NULL);
    cr_expect_eq(trie_statistics(w->trie)->paths_entered, 4u);
    cr_expect_eq(trie_statistics(w->trie)->paths_failed, 0u);
    world_finish(w);
    expect_resolves(w, &shots[0], "trainer_trained_paths_are_found_again_impl left leaf");
    expect_resolves(w, &shots[1], "trainer_trained_paths_are_found_again_impl right leaf");
    expect_resolves(w, &shots[2], "recursive recursive recursive left leaf");
    struct resolved r;
    world_resolve(w, w->self.process, &shots[2], &r, NULL);
    struct pathmap_node node = pathmap_node(w->map, r.node);
    cr_expect_eq(node.self, 2u);
    cr_expect_eq(node.passes, 2u);
    uint64_t height = node.height;
    while (node.parent != PATHMAP_NONE) {
        node = pathmap_node(w->map, node.parent);
        cr_assert_lt(node.height, height);
        cr_assert_eq(node.self, 0u);
        height = node.height;
    }
    cr_expect_eq(node.passes, 4u, "all went through the outermost function");
    cr_expect_eq(node.height, 8u, "_start, as process.h says");
    cr_expect_eq(node.site, 0u);
    trainer_free(trainer);
    world_close(w);
}

Test(trainer, base_known_or_not_gives_the_same_heights)
{
    uint32_t heights[2];
    for (int known = 0; known < 2; known++) {
        struct world *w = world_open();
        struct trainer *trainer = trainer_new(w->trie);
        if (known)
            self_set_stack(&w->self);
        recursive(4);
        cr_assert_gt(train(w, trainer, NULL), 4);
        uint64_t base = 0;
        cr_assert_eq(process_stack_base(w->self.process, sample.tid, sample.sp, &base), STACK_OWN);
        cr_assert_eq(base, w->self.start_stack);
        world_finish(w);
        struct resolved r;
        world_resolve(w, w->self.process, &sample, &r, NULL);
        cr_assert_neq(r.kind, RESOLVED_UNKNOWN);
        cr_assert_eq(r.paths, 1u);
        heights[known] = pathmap_node(w->map, r.node).height;
        trainer_free(trainer);
        world_close(w);
    }
    cr_expect_eq(heights[0], heights[1]);
}

Test(trainer, stacks_through_a_file_that_is_left_out)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    self_set_stack(&w->self);
    left(1);
    cr_assert_gt(train(w, trainer, NULL), 3);
    struct place place;
    cr_assert(process_place(w->self.process, sample.ip, &place));
    trainer_leave_out(trainer, image_path(place.image));
    uint32_t nodes = trie_node_count(w->trie);
    right(5);
    cr_expect_eq(train(w, trainer, NULL), 0);
    cr_expect_eq(trie_node_count(w->trie), nodes);
    cr_expect_eq(trie_statistics(w->trie)->paths_failed, 1u);
    world_finish(w);
    trainer_free(trainer);
    world_close(w);
}

static void *thread(void *argument)
{
    recursive(2);
    return argument;
}

Test(trainer, threads_share_their_paths)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    uint32_t nodes = 0;
    pthread_t id;
    for (int i = 0; i < 3; i++) {
        pthread_create(&id, NULL, thread, NULL);
        pthread_join(id, NULL);
        cr_assert_gt(train(w, trainer, NULL), 5);
        if (i == 0)
            nodes = trie_node_count(w->trie);
        /* now that the base is known and the walk ends there */
        cr_assert_gt(train(w, trainer, NULL), 5);
        cr_expect_eq(trie_node_count(w->trie), nodes, "thread %d, the same heights and sites", i);
    }
    world_finish(w);
    struct resolved r;
    world_resolve(w, w->self.process, &sample, &r, NULL);
    cr_expect_eq(pathmap_node(w->map, r.node).self, 6u);
    struct pathmap_node node = pathmap_node(w->map, r.node);
    while (node.parent != PATHMAP_NONE)
        node = pathmap_node(w->map, node.parent);
    cr_expect_eq(node.height, 0u, "start_thread");
    cr_expect_neq(node.site, 0u, "in clone3");
    trainer_free(trainer);
    world_close(w);
}

Test(trainer, what_is_not_whole_is_counted_and_not_entered)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    enum unwind_end end;
    recursive(10);
    sample.stack_size = 200;
    cr_expect_eq(train(w, trainer, &end), 0);
    cr_expect_eq(end, UNWIND_CUT);
    sample.reg_ip = 1;
    cr_expect_eq(train(w, trainer, &end), 0);
    cr_expect_eq(end, UNWIND_NO_MAPPING);
    cr_expect_eq(trie_statistics(w->trie)->paths_cut, 1u);
    cr_expect_eq(trie_statistics(w->trie)->paths_failed, 1u);
    cr_expect_eq(trie_statistics(w->trie)->paths_entered, 0u);
    cr_expect_eq(trie_node_count(w->trie), 1u);
    trainer_free(trainer);
    world_close(w);
}

/* What a cut stack proved is kept apart, without counts, when it is asked for: its heights say nothing of other samples. */
Test(trainer, cut_paths_are_kept_apart)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    enum unwind_end end;
    trainer_keep_apart(trainer);
    self_set_stack(&w->self);
    recursive(10);
    struct unwind_frame inner[8];
    cr_assert_geq(unwind_sample(w->self.process, &sample, inner, 4, &end), 4u);
    sample.stack_size =
        (uint32_t)(inner[3].cfa - 8 - sample.sp); /* where the fourth frame returns to is cut off */
    const int frames = train(w, trainer, &end);
    const struct trainer_path path = trainer_entered(trainer);
    cr_expect_eq(end, UNWIND_CUT);
    cr_expect_gt(frames, 1);
    cr_expect(path.partial && path.apart);
    cr_expect(partial_is_apart(path.height));
    cr_expect_eq(trie_statistics(w->trie)->paths_cut, 1u);
    cr_expect_eq(trie_statistics(w->trie)->paths_entered, 0u);

    /* The same stack again has the same path, and one whose own frame is another function's has not. */
    uint32_t node;
    cr_assert_eq(trainer_repeat(trainer, &path, w->self.process, &sample, &node, NULL), 1);
    cr_expect_eq(node, path.leaf);
    struct sample other = sample;
    other.sp += 4096;
    cr_assert_eq(trainer_repeat(trainer, &path, w->self.process, &other, &node, NULL), 0);
    cr_expect_eq(node, TRIE_NONE);
    world_finish(w);
    struct resolved r;
    cr_assert_eq(world_resolve(w, w->self.process, &sample, &r, NULL), 0);
    cr_expect_eq(r.kind, RESOLVED_UNKNOWN, "no CID leads to it");
    trainer_free(trainer);
    world_close(w);
}

/* Cuts off what lies outside of the innermost `kept` frames. */
static void cut_to(struct world *w, size_t kept)
{
    enum unwind_end end;
    struct unwind_frame *inner = calloc(kept, sizeof *inner);
    cr_assert_geq(unwind_sample(w->self.process, &sample, inner, kept, &end), kept);
    sample.stack_size = (uint32_t)(inner[kept - 1].cfa - 8 - sample.sp);
    free(inner);
}

/* However deep in a recursion, what was copied of it is one path. */
Test(trainer, cut_paths_of_a_recursion_share_their_nodes)
{
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    uint32_t nodes = 0;
    trainer_keep_apart(trainer);
    self_set_stack(&w->self);
    for (int depth = 20; depth < 60; depth += 10) {
        recursive(depth);
        cut_to(w, 15);
        cr_assert_gt(train(w, trainer, NULL), 10);
        const struct trainer_path path = trainer_entered(trainer);
        nodes = nodes ? nodes : trie_node_count(w->trie);
        cr_expect_eq(trie_node_count(w->trie), nodes, "%d deep", depth);
        cr_expect_gt(path.lowered, 0u);
        uint32_t node;
        cr_assert_eq(trainer_repeat(trainer, &path, w->self.process, &sample, &node, NULL), 1);
        cr_expect_eq(node, path.leaf);
    }
    trainer_free(trainer);
    world_close(w);
}

static int narrow(int n, uint64_t way);

static uint64_t next_way(uint64_t way)
{
    return way * 6364136223846793005 + 1442695040888963407;
}

APART static int wide(int n, uint64_t way)
{
    volatile int room[16] = {n};
    room[1] += n == 0 ? left(1) : way >> 63 ? wide(n - 1, next_way(way)) : narrow(n - 1, next_way(way));
    return room[1];
}

APART static int narrow(int n, uint64_t way)
{
    volatile int local = n;
    local += n == 0 ? left(1) : way >> 63 ? wide(n - 1, next_way(way)) : narrow(n - 1, next_way(way));
    return local;
}

/* Where no two recursions are alike, the trie does not grow by hundreds of nodes for each. */
Test(trainer, cut_paths_of_random_recursions_are_bounded)
{
    enum { ROUNDS = 6000, FRAMES = 200, FEW = 32 };
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    int round = 0, frames = FRAMES;
    trainer_keep_apart(trainer);
    self_set_stack(&w->self);
    for (; round < ROUNDS && frames > FEW; round++) {
        wide(FRAMES + 20, (uint64_t)round);
        cut_to(w, FRAMES);
        frames = train(w, trainer, NULL);
        cr_assert(frames >= FRAMES - 1 || frames == FEW, "%d", frames);
    }
    cr_expect_eq(frames, FEW);
    cr_expect_gt(round, 1000);
    cr_expect_lt(trie_node_count(w->trie), 530000u);
    trainer_free(trainer);
    world_close(w);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    handled = left(number);
}

/* What a handler on an alternate stack interrupted is not on it: its path is below a root that says so, with the heights that the
 * handler tells, so that other samples find it. */
Test(trainer, paths_on_an_alternate_stack_are_found_again)
{
    enum { STACK = 1 << 16 };
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    enum unwind_end end;
    uint64_t base;
    stack_t other = {.ss_sp = malloc(STACK), .ss_size = STACK};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    self_set_stack(&w->self);
    raise(SIGUSR1);
    sample.stack_size = (uint32_t)((uintptr_t)other.ss_sp + STACK - sample.sp);
    cr_assert_geq(train(w, trainer, &end), 3);
    const struct trainer_path path = trainer_entered(trainer);
    size_t count;
    const struct unwind_frame *handler = trainer_frames(trainer, &count) + count - 1;
    cr_expect_eq(end, UNWIND_SIGNAL);
    cr_expect(path.partial && !path.apart);
    cr_expect_eq(trie_statistics(w->trie)->paths_entered, 1u);
    cr_expect_eq(process_stack_base(w->self.process, sample.tid, sample.sp, &base), STACK_SHARED);
    cr_expect_eq(base, unwind_signal_base(handler->cfa));
    world_finish(w);
    sample.stack = NULL;
    expect_resolves(w, &sample, "[signal on another stack] on_signal left leaf");
    trainer_free(trainer);
    world_close(w);
    free(other.ss_sp);
}

/* A walk that ends in code without rows, on a stack whose base is known, is counted at its heights below a root that says why. */
Test(trainer, paths_below_unknown_code_are_counted)
{
    static uint8_t copy[DUMP];
    struct world *w = world_open();
    struct trainer *trainer = trainer_new(w->trie);
    enum unwind_end end;
    self_set_stack(&w->self);
    left(1);
    struct unwind_frame frames[8];
    cr_assert_geq(unwind_sample(w->self.process, &sample, frames, 3, &end), 3u);
    memcpy(copy, sample.stack, sample.stack_size);
    memset(copy + (frames[2].cfa - 8 - sample.sp), 0xfd, 8); /* where the third frame returns to */
    sample.stack = copy;
    cr_expect_eq(train(w, trainer, &end), 3);
    cr_expect_eq(end, UNWIND_NO_MAPPING);
    const struct trainer_path path = trainer_entered(trainer);
    cr_expect(path.partial && !path.apart);
    cr_expect_eq(trie_statistics(w->trie)->paths_entered, 1u);
    trainer_free(trainer);
    world_finish(w);
    expect_resolves(w, &sample, "left leaf");
    struct resolved r;
    cr_assert_eq(world_resolve(w, w->self.process, &sample, &r, NULL), 0);
    cr_expect_eq(strncmp(world_path(w, r.node), "[damaged stack] ", 16), 0, "%s", world_path(w, r.node));
    world_close(w);
}

/* Every instruction from the first of left() on, by the trap flag. */
static struct {
    uint64_t pc, sp, bp;
} steps[STEPS];
static volatile int step_count, stepping;

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (stepping && step_count < STEPS) {
        steps[step_count].pc = (uint64_t)r[REG_RIP];
        steps[step_count].sp = (uint64_t)r[REG_RSP];
        steps[step_count++].bp = (uint64_t)r[REG_RBP];
        r[REG_EFL] |= 0x100;
    } else {
        r[REG_EFL] &= ~0x100;
    }
}

APART static int busy(int n)
{
    volatile char *capacity = alloca((size_t)n * 16);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        capacity[i] = (char)i;
        sum += i * n;
    }
    return sum + capacity[0];
}

APART static int worker(int n, int a, int b, int c, int d, int e, int f, int g)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += busy(i + 1) * (a + b + c + d) + e * f * g;
    return sum;
}

Test(trainer, every_instruction_of_an_activation_has_its_cid)
{
    struct world *w = world_open();
    self_set_stack(&w->self);
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    stepping = 1;
    raise(SIGTRAP);
    volatile int result = worker(4, 1, 2, 3, 4, 5, 6, 7);
    stepping = 0;
    (void)result;
    __asm__ volatile("nop\n\tnop");
    cr_assert_gt(step_count, 100);
    cr_assert_lt(step_count, STEPS);
    uint64_t worker_height = 0, busy_height = 0;
    int in_worker = 0, in_busy = 0;
    for (int i = 0; i < step_count; i++) {
        struct sample s = self_sample(steps[i].pc, steps[i].sp, steps[i].bp);
        struct cid cid = cid_of_sample(w->self.process, &s);
        if (cid.reason == UNKNOWN_CFI || cid.reason == UNKNOWN_FUNCTION || cid.reason == UNKNOWN_MAPPING)
            continue; /* libc's raise() and what the sanitizers call */
        cr_assert_eq(cid.reason, UNKNOWN_NOT, "%s", unknown_reason_text(cid.reason));
        const char *name = image_function(cid.place.image, cid.place.function)->name;
        if (name && strcmp(name, "worker") == 0) {
            in_worker++;
            if (!worker_height)
                worker_height = cid.height;
            cr_assert_eq(cid.height, worker_height, "worker+%lx", cid.place.address);
        }
        if (name && strcmp(name, "busy") == 0) {
            in_busy++;
            if (!busy_height)
                busy_height = cid.height;
            cr_assert_eq(cid.height, busy_height, "busy+%lx", cid.place.address);
        }
    }
    cr_expect_gt(in_worker, 40);
    cr_expect_gt(in_busy, 60);
    cr_expect_gt(busy_height, worker_height);
    world_close(w);
}
