/* The chance of a context that training never had, by what it had once. */
#include <criterion/criterion.h>

#include <math.h>

#include "infer/model/first_seen.h"
#include "tests/infer/world.h"

Test(first_seen, what_was_seen_once_tells_what_was_not)
{
    struct first_seen seen = first_seen_by(10000, 100);
    cr_expect_float_eq(seen.chance, 0.01, 1e-9);
    cr_expect_float_eq(seen.most, 0.01 + 2.41421 * sqrt(3.68888 / 10000), 1e-5);
    seen = first_seen_by(0, 0);
    cr_expect(seen.chance >= 1 && seen.most >= 1, "nothing was observed");
    seen = first_seen_by(3, 2);
    cr_expect(seen.chance < 0.67 && seen.most >= 1, "a bound is no more than all");
}

/* fun3 is sampled once below fun1 and once below fun2, at one height: its CID twice. fun2 itself once, fun1 five times, fun0 never. */
Test(first_seen, contexts_are_counted_by_their_cid)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 8, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 6, 5), 3, 48, 7, 1, 1);
    world_child(w, world_child(w, root, 2, 16, 6, 2, 1), 3, 48, 9, 1, 1);
    world_finish(w);
    struct first_seen seen = first_seen_of(w->map);
    cr_expect(!seen.calls && seen.observations == 8 && seen.once == 1, "%d: %d of %d", seen.calls,
              (int)seen.once, (int)seen.observations);
    world_close(w);
}

Test(first_seen, without_samples_calls_are_counted)
{
    struct world *w = world_open();
    world_child(w, world_child(w, TRIE_ROOT, 0, 0, 0, 1, 0), 1, 16, 5, 6, 0);
    world_finish(w);
    struct first_seen seen = first_seen_of(w->map);
    cr_expect(seen.calls && seen.observations == 7 && seen.once == 1);
    world_close(w);
}

static uint32_t draw(uint64_t *state) /* the high bits of an LCG (Knuth, MMIX) */
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Species 1, 2, ... 2000 with chances as 1 / (k (k + 1)): of 400 samples of 3000, how many leave more unseen than the bound says. */
Test(first_seen, the_bound_holds)
{
    enum { SPECIES = 2000, SAMPLES = 3000, TRIALS = 400 };
    static uint32_t seen[SPECIES + 1];
    uint64_t state = 1;
    unsigned beyond = 0, above = 0;
    for (unsigned t = 0; t < TRIALS; t++) {
        memset(seen, 0, sizeof seen);
        for (unsigned i = 0; i < SAMPLES; i++) {
            double u = (draw(&state) + 1.0) / 0x1p31; /* P(k >= K) = 1 / K */
            seen[(unsigned)fmin(1 / u, SPECIES)]++;
        }
        uint64_t once = 0;
        double missing = seen[SPECIES] ? 0 : 1.0 / SPECIES;
        for (unsigned k = 1; k <= SPECIES; k++) {
            once += seen[k] == 1;
            missing += k < SPECIES && !seen[k] ? 1.0 / k - 1.0 / (k + 1) : 0;
        }
        struct first_seen told = first_seen_by(SAMPLES, once);
        beyond += missing > told.most;
        above += missing > told.chance;
    }
    cr_expect(beyond <= TRIALS * FIRST_SEEN_DOUBT, "%u", beyond);
    cr_expect(above > TRIALS / 10 && above < TRIALS - TRIALS / 10,
              "the estimate is neither always too low nor too high: %u", above);
}
