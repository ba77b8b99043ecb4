/*
 * bench_infer.c - what one sample costs: ns per resolver_resolve() on CIDs that were asked for before, and ns
 * per frame of an unwound stack. Its subject is itself: a recursion through two functions, 200 frames deep.
 */
#include <stdio.h>
#include <time.h>

#include "infer/contexts/resolver.h"
#include "infer/samples/trainer.h"
#include "tests/process/self.h"

enum { SHOTS = 200, DUMP = 1 << 17, ROUNDS = 5 };

static struct sample shots[SHOTS];
static uint8_t dumps[SHOTS][DUMP];

__attribute__((noinline)) static int even(int n);

__attribute__((noinline)) static int odd(int n)
{
    volatile char pad[40];
    pad[0] = (char)n;
    SELF_CAPTURE(&shots[n], dumps[n], DUMP);
    return n ? even(n - 1) + pad[0] : 0;
}

__attribute__((noinline)) static int even(int n)
{
    volatile char pad[100];
    pad[0] = (char)n;
    SELF_CAPTURE(&shots[n], dumps[n], DUMP);
    return n ? odd(n - 1) + pad[0] : 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of some rounds, in ns per sample. */
static double bench_resolve(struct resolver *resolver, struct process *process)
{
    double best = 1e18;
    struct resolved out;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < SHOTS * 5000; i++) {
            const struct cid cid = cid_of_sample(process, &shots[(unsigned)i * 7919u % SHOTS]);
            if (resolver_resolve(resolver, &cid, SETTING_ANY, &out, NULL) < 0 || out.kind == RESOLVED_UNKNOWN)
                return -1;
        }
        double each = (now() - start) / (SHOTS * 5000);
        best = each < best ? each : best;
    }
    return best;
}

static double bench_unwind(const struct process *process)
{
    static struct unwind_frame frames[UNWIND_MAX_FRAMES];
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = 0;
        enum unwind_end end;
        double start = now();
        for (int i = 0; i < SHOTS * 50; i++)
            count += unwind_sample(process, &shots[i % SHOTS], frames, UNWIND_MAX_FRAMES, &end);
        double each = (now() - start) / (double)count;
        best = each < best ? each : best;
    }
    return best;
}

int main(void)
{
    odd(SHOTS - 1);
    struct self self = self_open();
    self_set_stack(&self);
    struct trie *trie = trie_new();
    struct trainer *trainer = trainer_new(trie);
    for (int i = 0; i < SHOTS; i++) {
        enum unwind_end end = UNWIND_ROOT;
        if (trainer_add(trainer, self.process, &shots[i], &end, NULL) <= 0) {
            fprintf(stderr, "bench_infer: %s\n", unwind_end_text(end));
            return 1;
        }
    }
    struct pathmap *map;
    if (pathmap_over(trie, &map, NULL) < 0)
        return 1;
    struct resolver *resolver = resolver_new(map, NULL);
    printf("resolve a known CID\t%.0f\tns\t300\n", bench_resolve(resolver, self.process));
    printf("unwind one frame\t%.0f\tns\t\n", bench_unwind(self.process));
    resolver_free(resolver);
    pathmap_close(map);
    trainer_free(trainer);
    trie_free(trie);
    self_close(&self);
    return 0;
}
