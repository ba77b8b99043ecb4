/*
 * relocate.c - moves a share of an ELF file's functions, chosen at random, and checks the result: "relocate
 * IN OUT [SEED] [SHARE%] [CLONES%]". Of the functions that are moved, CLONES% get a second copy, to which
 * half of their call sites go, and half of the calls through pointers get guards for up to four of the cloned
 * functions that pointers lead to. Prints what was moved and why the rest was not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "rewrite/move/move.h"
#include "image/calls/calls.h"
#include "tests/rewrite/write_program.h"

struct choice {
    struct move_function *functions;
    size_t function_count;
    struct move_call *calls;
    size_t call_count;
    struct move_guard *guards;
    size_t guard_count;
    uint8_t *copies;  /* by function of the image */
    uint32_t offered; /* functions that are none of a .cold part, a stub or without code */
};

static bool chance(uint64_t *state, unsigned percent)
{
    return hash_random(state) % 100 < percent;
}

static void choose_functions(const struct image *image, uint64_t *state, unsigned share, unsigned clones,
                             struct choice *out)
{
    uint32_t count = image_function_count(image);
    for (uint32_t i = 0; i < count; i++) {
        const struct image_function *f = image_function(image, i);
        if (f->owner != i || image_function_is_stub(image, i))
            continue;
        out->offered++;
        if (!chance(state, share))
            continue;
        out->copies[i] = chance(state, clones) ? 2 : 1;
        for (uint8_t k = 0; k < out->copies[i]; k++)
            out->functions[out->function_count++] = (struct move_function){.address = f->address};
    }
}

/* Half of the direct calls of cloned functions go to the second copy. */
static void choose_calls(const struct image *image, const struct calls *calls, uint64_t *state,
                         struct choice *out)
{
    const struct call_site *sites;
    size_t count = calls_all(calls, &sites);
    for (size_t i = 0; i < count; i++) {
        uint32_t f =
            sites[i].kind == CALL_DIRECT ? image_function_entry(image, sites[i].target) : IMAGE_NO_FUNCTION;
        if (f == IMAGE_NO_FUNCTION || out->copies[f] < 2)
            continue;
        for (uint32_t in = 0; in < 2; in++)
            if (chance(state, 50))
                out->calls[out->call_count++] = (struct move_call){sites[i].address, in, 1, 0};
    }
}

static void choose_guards(const struct image *image, const struct calls *calls, uint64_t *state,
                          struct choice *out)
{
    const struct call_site *sites;
    const uint32_t *taken;
    size_t count = calls_all(calls, &sites), pointed = calls_taken(calls, &taken);
    for (size_t i = 0; i < count; i++)
        for (uint32_t in = 0; in < out->copies[sites[i].function]; in++) {
            if (sites[i].tail || sites[i].kind == CALL_DIRECT || !move_guardable(image, sites[i].address) ||
                !chance(state, 50))
                continue;
            size_t first = pointed ? hash_random(state) % pointed : 0,
                   most = out->guard_count + MOVE_GUARDS_MOST;
            for (size_t k = 0; k < pointed && out->guard_count < most; k++) {
                uint32_t f = taken[(first + k) % pointed];
                if (out->copies[f] == 2)
                    out->guards[out->guard_count++] = (struct move_guard){
                        sites[i].address, image_function(image, sites[i].function)->address,
                        image_function(image, f)->address, in, 1};
            }
        }
}

/* Guards of functions that are left alone, or lead to such. */
static void drop_guards(const struct image *image, const struct move_survey *survey, struct choice *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->guard_count; i++) {
        enum move_refusal caller, callee;
        struct move_guard guard = out->guards[i];
        if (move_refusal_of(survey, image_function_entry(image, guard.caller), &caller) == 0 &&
            move_refusal_of(survey, image_function_entry(image, guard.target), &callee) == 0 &&
            caller == MOVE_MOVABLE && callee == MOVE_MOVABLE)
            out->guards[kept++] = guard;
    }
    out->guard_count = kept;
}

static void print_result(const struct image *image, const struct choice *choice,
                         const struct move_result *result)
{
    uint32_t reasons[MOVE_REFUSALS] = {0};
    uint64_t code = 0;
    for (size_t i = 0; i < choice->function_count; i++)
        if (i == 0 || choice->functions[i].address != choice->functions[i - 1].address)
            reasons[result->refusals[i]]++;
    for (uint32_t i = 0; i < image_function_count(image); i++)
        code += image_function(image, i)->size;
    printf("%s: %u of %u functions moved (%.1f%%), %llu of %llu bytes of code (%.1f%%), emitted %llu, "
           "segment %llu, "
           "re-pointed %llu, guards %zu\n",
           image_name(image), reasons[MOVE_MOVABLE], choice->offered,
           choice->offered ? 100.0 * reasons[MOVE_MOVABLE] / choice->offered : 0,
           (unsigned long long)result->moved_bytes, (unsigned long long)code,
           code ? 100.0 * (double)result->moved_bytes / (double)code : 0,
           (unsigned long long)result->emitted_bytes, (unsigned long long)result->segment_bytes,
           (unsigned long long)result->repointed, choice->guard_count);
    for (unsigned r = MOVE_MOVABLE + 1; r < MOVE_REFUSALS; r++)
        if (reasons[r])
            printf("  %6u  %s\n", reasons[r], move_refusal_text(r));
    if (getenv("RELOCATE_LIST"))
        for (size_t i = 0; i < choice->function_count; i++)
            if (result->refusals[i])
                printf("  %#llx: %s\n", (unsigned long long)choice->functions[i].address,
                       move_refusal_text(result->refusals[i]));
}

static int relocate(const struct image *image, char **argv, const unsigned long numbers[3],
                    struct fathom_error *err)
{
    struct choice choice = {0};
    struct move_survey *survey = NULL;
    struct move_result result = {0};
    struct calls *calls = NULL;
    const struct call_site *sites;
    uint64_t state = numbers[0];
    size_t count = image_function_count(image);
    int rc = move_survey_new(image, &survey, err);
    if (rc == 0)
        rc = calls_build(image, &calls, err);
    if (rc == 0) {
        choice.functions = calloc(2 * count + 1, sizeof *choice.functions);
        choice.copies = calloc(count + 1, 1);
        choice.calls = calloc(2 * calls_all(calls, &sites) + 1, sizeof *choice.calls);
        choose_functions(image, &state, (unsigned)numbers[1], (unsigned)numbers[2], &choice);
        choice.guards = calloc(2 * MOVE_GUARDS_MOST * calls_all(calls, &sites) + 1, sizeof *choice.guards);
        choose_calls(image, calls, &state, &choice);
        choose_guards(image, calls, &state, &choice);
        drop_guards(image, survey, &choice);
        const struct move_plan plan = {.functions = choice.functions,
                                       .function_count = choice.function_count,
                                       .calls = choice.calls,
                                       .call_count = choice.call_count,
                                       .guards = choice.guards,
                                       .guard_count = choice.guard_count};
        rc = move_apply(survey, &plan, &result, err);
        if (rc == 0)
            print_result(image, &choice, &result);
        if (rc == 0)
            rc = move_check(survey, &plan, &result, err);
        if (result.elf && write_program(argv[1], result.elf, result.size))
            rc = -1;
    }
    move_result_free(&result);
    calls_free(calls);
    move_survey_free(survey);
    free(choice.functions);
    free(choice.copies);
    free(choice.calls);
    free(choice.guards);
    return rc;
}

int main(int argc, char **argv)
{
    unsigned long numbers[3] = {1, 100, 0}; /* seed, share, clones */
    struct fathom_error err = {0};
    struct image *image;
    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: %s IN OUT [SEED] [SHARE%%] [CLONES%%]\n", argv[0]);
        return 2;
    }
    for (int i = 3; i < argc; i++)
        numbers[i - 3] = strtoul(argv[i], NULL, 10);
    int rc = image_open(argv[1], NULL, &image, &err);
    if (rc == 0) {
        rc = relocate(image, argv + 1, numbers, &err);
        image_close(image);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    return rc < 0;
}
