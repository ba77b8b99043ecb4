/* fuzz_move.c - a fuzz target for the mover of functions: moves all functions of an image, each second one twice, and
 * reads the new file again. */
#include <stdlib.h>

#include "rewrite/move/move.h"
#include "image/code/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was promised in move.h. */
static void require(int condition)
{
    if (!condition)
        abort();
}

static void ask(const struct move_plan *plan, const struct move_result *result)
{
    uint64_t to;
    for (size_t i = 0; i < plan->function_count; i++) {
        bool moved = result->refusals[i] == MOVE_MOVABLE;
        bool first = i == 0 || plan->functions[i - 1].address != plan->functions[i].address;
        require(result->refusals[i] < MOVE_REFUSALS && move_refusal_text(result->refusals[i]));
        require(!first || !moved || move_translate(result, plan->functions[i].address, 0, false, &to));
    }
    for (size_t i = 1; i < result->run_count; i++)
        require(result->runs[i - 1].copy < result->runs[i].copy ||
                result->runs[i - 1].from + result->runs[i - 1].size <= result->runs[i].from);
}

/* Guards of a function's first call through a pointer that can have them, for itself. */
static void guard(const struct image *image, const struct image_function *f, struct move_plan *plan,
                  struct move_guard *guards)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, f->address, &size);
    struct code_insn insn;
    for (uint32_t at = 0; bytes && at < f->size && at < size; at += insn.length)
        if (!code_read(bytes + at, size - at, f->address + at, &insn))
            return;
        else if (move_guardable(image, insn.address)) {
            guards[plan->guard_count++] = (struct move_guard){insn.address, f->address, f->address, 0, 0};
            return;
        }
}

static void move(const struct image *image, const struct move_survey *survey)
{
    uint32_t count = image_function_count(image);
    struct move_function *functions = calloc(2 * (size_t)count + 1, sizeof *functions);
    struct move_guard *guards = calloc((size_t)count + 1, sizeof *guards);
    struct move_plan plan = {.functions = functions, .guards = guards};
    struct move_result result;
    if (!functions || !guards)
        goto out;
    for (uint32_t i = 0; i < count; i++)
        guard(image, image_function(image, i), &plan, guards);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 1 + i % 2; k++)
            functions[plan.function_count++].address = image_function(image, i)->address;
    if (move_apply(survey, &plan, &result, NULL) == 0) {
        ask(&plan, &result);
        move_check(survey, &plan, &result,
                   NULL); /* a damaged file may read differently when it is read again */
        move_result_free(&result);
    }
out:
    free(guards);
    free(functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct image_options options = {.no_debug_files = true};
    struct image *image;
    struct move_survey *survey;
    if (image_open_memory("fuzz", data, size, &options, &image, NULL) < 0)
        return 0;
    if (move_survey_new(image, &survey, NULL) == 0) {
        move(image, survey);
        move_survey_free(survey);
    }
    image_close(image);
    return 0;
}
