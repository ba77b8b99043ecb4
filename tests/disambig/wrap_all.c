/*
 * wrap_all.c - wraps the calls of a file: "wrap_all IN OUT [SEED]" lets each direct call whose callee is
 * proved to allow it take more stack by a random multiple of 16 bytes, up to WRAP_MOST, with random pads in
 * half of the callers that can grow, and checks the result. Prints how many of the direct calls there are of
 * each kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "rewrite/edits.h"
#include "disambig/wrap/wrap.h"
#include "tests/rewrite/write_program.h"

struct all {
    struct image *image;
    struct growth *growth;
    struct calls *calls;
    struct callees *callees;
    uint64_t random;
    struct pad *pads; /* by address */
    bool *movable;    /* by pad */
    size_t pad_count;
    struct wrap *wraps; /* by address, site */
    size_t wrap_count;
    uint32_t counts[WRAP_REFUSALS];
};

/* xorshift64* (Vigna, 2016) */
static uint32_t draw(struct all *a, uint32_t below)
{
    a->random ^= a->random >> 12;
    a->random ^= a->random << 25;
    a->random ^= a->random >> 27;
    return (uint32_t)(a->random * 0x2545f4914f6cdd1dULL >> 33) % below;
}

static int by_site(const void *x, const void *y)
{
    const struct wrap *a = x, *b = y;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* The wraps of one function, and its pad. */
static int add_function(struct all *a, uint32_t function)
{
    const struct call_site *sites;
    uint64_t address = image_function(a->image, function)->address;
    size_t count = calls_of(a->calls, function, &sites), before = a->wrap_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t callee = sites[i].kind == CALL_DIRECT ? image_function_entry(a->image, sites[i].target)
                                                       : IMAGE_NO_FUNCTION;
        enum wrap_refusal refusal = WRAP_NOT_DIRECT;
        if (sites[i].tail)
            continue;
        if (callee != IMAGE_NO_FUNCTION && !edits_behind_call(a->image, sites[i].address)) {
            a->counts[WRAP_LAST]++;
            continue;
        }
        if (callee != IMAGE_NO_FUNCTION && callees_judge(a->callees, callee, &refusal) < 0)
            return -1;
        a->counts[refusal]++;
        if (refusal == WRAP_POSSIBLE)
            a->wraps[a->wrap_count++] =
                (struct wrap){.address = address,
                              .site = sites[i].address,
                              .bytes = PAD_UNIT * (1 + draw(a, draw(a, 2) ? 8 : WRAP_MOST / PAD_UNIT))};
    }
    bool grows = growth_is_understood(a->growth, function) || growth_by_insertion(a->growth, function);
    if (a->wrap_count > before)
        a->pads[a->pad_count++] = (struct pad){address, grows ? PAD_UNIT * draw(a, 2) * draw(a, 32) : 0, 0};
    return 0;
}

static int add_all(struct all *a)
{
    const struct call_site *sites;
    uint32_t functions = image_function_count(a->image);
    a->pads = calloc(functions + 1ul, sizeof *a->pads);
    a->movable = calloc(functions + 1ul, 1);
    a->wraps = calloc(calls_all(a->calls, &sites) + 1, sizeof *a->wraps);
    if (!a->pads || !a->movable || !a->wraps)
        return -1;
    for (uint32_t f = 0; f < functions; f++)
        if (add_function(a, f) < 0)
            return -1;
    qsort(a->wraps, a->wrap_count, sizeof *a->wraps, by_site);
    return 0;
}

/* Leaves those alone that cannot be emitted anew. */
static int drop(struct all *a, struct fathom_error *err)
{
    struct enlarge_plan plan = {
        .pads = a->pads, .count = a->pad_count, .wraps = a->wraps, .wrap_count = a->wrap_count};
    size_t pads = 0, wraps = 0, w = 0;
    if (enlarge_movable(a->image, a->growth, &plan, a->movable, err) < 0)
        return -1;
    for (size_t i = 0; i < a->pad_count; i++) {
        for (; w < a->wrap_count && a->wraps[w].address == a->pads[i].address; w++)
            if (a->movable[i])
                a->wraps[wraps++] = a->wraps[w];
        if (a->movable[i])
            a->pads[pads++] = a->pads[i];
    }
    a->counts[WRAP_CALLER] = (uint32_t)(a->wrap_count - wraps);
    a->counts[WRAP_POSSIBLE] = (uint32_t)wraps;
    a->pad_count = pads;
    a->wrap_count = wraps;
    return 0;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {.text = "out of memory"};
    struct enlarged file = {0};
    struct all a = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: wrap_all IN OUT [SEED]\n");
        return 2;
    }
    a.random = (argc > 3 ? strtoull(argv[3], NULL, 0) : 1) * 0x9e3779b97f4a7c15ULL + 1;
    int rc = image_open(argv[1], NULL, &a.image, &err);
    if (rc == 0)
        rc = growth_new(a.image, &a.growth, &err);
    if (rc == 0)
        rc = calls_build(a.image, &a.calls, &err);
    if (rc == 0)
        rc = (a.callees = callees_new(a.growth)) && add_all(&a) == 0 ? drop(&a, &err) : -1;
    struct enlarge_plan plan = {
        .pads = a.pads, .count = a.pad_count, .wraps = a.wraps, .wrap_count = a.wrap_count};
    if (rc == 0)
        rc = enlarge_frames(a.image, a.growth, &plan, &file, &err);
    if (rc < 0)
        fprintf(stderr, "wrap_all: %s\n", err.text);
    for (unsigned r = 0; r < WRAP_REFUSALS && rc == 0; r++)
        if (a.counts[r])
            printf("%6u %s\n", a.counts[r], wrap_refusal_text((enum wrap_refusal)r));
    if (rc == 0)
        rc = write_program(argv[2], file.elf, file.size);
    enlarged_clear(&file);
    callees_free(a.callees);
    calls_free(a.calls);
    growth_free(a.growth);
    image_close(a.image);
    free(a.pads);
    free(a.movable);
    free(a.wraps);
    return rc < 0;
}
