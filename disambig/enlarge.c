/* enlarge.c - see enlarge.h. */
#include "disambig/enlarge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disambig/edits.h"
#include "disambig/patch/patch.h"

/* Plans ------------------------------------------------------------------------------------------------------- */

struct planning {
    struct move_function *functions;
    struct edits *edits;
    size_t count;
};

static void planning_clear(struct planning *p)
{
    for (size_t i = 0; p->edits && i < p->count; i++)
        free(p->edits[i].at);
    free(p->edits);
    free(p->functions);
}

static int plan(const struct growth *growth, const struct pad *pads, size_t count, struct planning *out,
                struct fathom_error *err)
{
    struct unit u = {0};
    int rc = 0;
    out->functions = calloc(count + 1, sizeof *out->functions);
    out->edits = calloc(count + 1, sizeof *out->edits);
    out->count = count;
    if (!out->functions || !out->edits)
        return error_memory(err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct edits *e = &out->edits[i];
        rc = pads[i].bytes ? edits_make(&u, growth, &pads[i], e) : 0;
        out->functions[i] = (struct move_function){pads[i].address, e->at, e->count};
        if (rc == -ENOMEM)
            error_memory(err);
        else if (rc < 0)
            error_set(err, -rc, "the frame of the function at 0x%llx cannot grow",
                      (unsigned long long)pads[i].address);
    }
    unit_free(&u);
    return rc;
}

/* Checks ------------------------------------------------------------------------------------------------------ */

/* Whether an address of the new file is of code that was moved, and not of a jump that was added behind a last call, which may
 * return for all that is known. */
static bool was_moved(const struct move_result *moved, uint64_t address)
{
    for (size_t i = 0; i < moved->run_count; i++)
        if (address - moved->runs[i].to < moved->runs[i].size)
            return true;
    return false;
}

static bool is_understood(const struct move_result *moved, const struct growth *growth, uint32_t function)
{
    return function != IMAGE_NO_FUNCTION &&
           (growth_is_understood(growth, function) || (growth_refusal(growth, function) == GROWTH_JUMPS_OUT &&
                                                       !was_moved(moved, growth_where(growth, function))));
}

/* Whether the new file's code and CFI contradict each other, or the frame. Other refusals say that the analysis does not see
 * through the code at its new place (a table of jumps, a number like an address), which move_check() has compared with the old. */
static bool is_contradicted(const struct growth *growth, uint32_t function)
{
    switch (growth_refusal(growth, function)) {
    case GROWTH_NOT_A_FUNCTION:
    case GROWTH_NO_FRAME:
    case GROWTH_PUSHED:
    case GROWTH_NO_CFI:
    case GROWTH_CFI_DIFFERS:
    case GROWTH_CFI_UNSUPPORTED:
    case GROWTH_CODE_UNKNOWN:
        return true;
    default:
        return false;
    }
}

/* Which functions, by the addresses that they had, keep their frame, or have a frame in the new file that its own code and CFI explain; with `checked`,
 * after move_check(), one that they do not contradict is enough. */
static int find_understood(const struct move_result *moved, const struct pad *pads, size_t count,
                           bool checked, bool *understood, struct fathom_error *err)
{
    struct image *image = NULL;
    struct growth *growth = NULL;
    int rc = image_open_memory("", moved->elf, moved->size, &(struct image_options){.no_debug_files = true},
                               &image, err);
    if (rc == 0)
        rc = growth_new(image, &growth, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        uint64_t now;
        uint32_t function = move_entry(moved, pads[i].address, pads[i].copy, &now)
                                ? image_function_entry(image, now)
                                : IMAGE_NO_FUNCTION;
        understood[i] = !pads[i].bytes || is_understood(moved, growth, function) ||
                        (checked && !is_contradicted(growth, function));
    }
    growth_free(growth);
    image_close(image);
    return rc;
}

int enlarge_movable(const struct image *image, const struct growth *growth, const struct pad *pads,
                    size_t count, bool *movable, struct fathom_error *err)
{
    struct planning planning = {0};
    struct move_survey *survey = NULL;
    struct move_result result = {0};
    memset(movable, 0, count * sizeof *movable);
    int rc = move_survey_new(image, &survey, err);
    if (rc == 0)
        rc = plan(growth, pads, count, &planning, err);
    struct move_plan asked = {.functions = planning.functions, .function_count = count};
    if (rc == 0)
        rc = move_apply(survey, &asked, &result, err);
    if (rc == 0)
        rc = find_understood(&result, pads, count, false, movable, err);
    for (size_t i = 0; i < count; i++)
        movable[i] = rc == 0 && movable[i] && result.refusals[i] == MOVE_MOVABLE;
    move_result_free(&result);
    move_survey_free(survey);
    planning_clear(&planning);
    return rc == -ENOTSUP ? 0 : rc;
}

/* Files ------------------------------------------------------------------------------------------------------- */

static int check_frames(const struct move_result *moved, const struct pad *pads, size_t count,
                        struct fathom_error *err)
{
    bool *understood = calloc(count + 1, sizeof *understood);
    int rc = understood ? find_understood(moved, pads, count, true, understood, err) : error_memory(err);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (!understood[i])
            rc = error_set(err, EBADMSG,
                           "the frame of the function at 0x%llx is not understood in the new file",
                           (unsigned long long)pads[i].address);
    free(understood);
    return rc;
}

static int emit_anew(const struct image *image, const struct growth *growth, const struct enlarge_plan *of,
                     struct enlarged *out, struct fathom_error *err)
{
    struct planning planning = {0};
    struct move_survey *survey = NULL;
    struct move_result result = {0};
    int rc = plan(growth, of->pads, of->count, &planning, err);
    struct move_plan asked = {.functions = planning.functions,
                              .function_count = of->count,
                              .calls = of->calls,
                              .call_count = of->call_count,
                              .guards = of->guards,
                              .guard_count = of->guard_count};
    if (rc == 0)
        rc = move_survey_new(image, &survey, err);
    if (rc == 0)
        rc = move_apply(survey, &asked, &result, err);
    for (size_t i = 0; i < of->count && rc == 0; i++)
        if (result.refusals[i] != MOVE_MOVABLE)
            rc = error_set(err, EINVAL, "the function at 0x%llx cannot be emitted anew: %s",
                           (unsigned long long)of->pads[i].address, move_refusal_text(result.refusals[i]));
    if (rc == 0)
        rc = move_check(survey, &asked, &result, err);
    if (rc == 0)
        rc = check_frames(&result, of->pads, of->count, err);
    move_survey_free(survey);
    planning_clear(&planning);
    if (rc < 0) {
        move_result_free(&result);
        return rc;
    }
    free(out->elf);
    out->elf = result.elf;
    out->size = result.size;
    out->id = result.id;
    out->moved = result;
    out->moved.elf = NULL;
    out->anew = of->count;
    return 0;
}

/* Whether the function has copies or guards. */
static bool is_emitted(const struct enlarge_plan *plan, size_t i)
{
    uint64_t address = plan->pads[i].address;
    if (plan->pads[i].copy || (i + 1 < plan->count && plan->pads[i + 1].address == address))
        return true;
    for (size_t k = 0; k < plan->guard_count; k++)
        if (plan->guards[k].caller == address)
            return true;
    return false;
}

/* Puts those first that fit in place; how many do. */
static size_t split(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                    struct pad *sorted)
{
    size_t fit = 0, others = 0;
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < plan->count; i++) {
            const struct pad *pad = &plan->pads[i];
            uint32_t function = image_function_entry(image, pad->address);
            bool fits = function != IMAGE_NO_FUNCTION && pad->bytes <= growth_most(growth, function) &&
                        !is_emitted(plan, i);
            if (fits != (round == 0))
                continue;
            sorted[fit + others] = *pad;
            fit += fits;
            others += !fits;
        }
    return fit;
}

int enlarge_frames(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                   struct enlarged *out, struct fathom_error *err)
{
    struct pad *sorted = malloc((plan->count + 1) * sizeof *sorted);
    struct image *resized = NULL;
    struct enlarged e = {0};
    if (!sorted)
        return error_memory(err);
    e.in_place = split(image, growth, plan, sorted);
    struct enlarge_plan anew = *plan;
    anew.pads = sorted + e.in_place;
    anew.count -= e.in_place;
    int rc = patch_resize(image, growth, sorted, e.in_place, &e.elf, &e.size, &e.id, err);
    if (rc == 0)
        rc = image_open_memory(image_path(image), e.elf, e.size, NULL, &resized, err);
    if (rc == 0)
        rc = patch_check(image, resized, sorted, e.in_place, err);
    if (rc == 0 && anew.count)
        rc = emit_anew(resized, growth, &anew, &e, err);
    image_close(resized);
    free(sorted);
    if (rc < 0)
        enlarged_clear(&e);
    else
        *out = e;
    return rc;
}

void enlarged_clear(struct enlarged *e)
{
    free(e->elf);
    move_result_free(&e->moved);
    memset(e, 0, sizeof *e);
}

uint64_t enlarged_entry(const struct enlarged *e, uint64_t entry, uint32_t copy)
{
    uint64_t to;
    return e->moved.run_count && move_entry(&e->moved, entry, copy, &to) ? to : entry;
}

uint64_t enlarged_address(const struct enlarged *e, uint64_t address, uint32_t copy, bool back)
{
    uint64_t to;
    return e->moved.run_count && move_translate(&e->moved, address, copy, back, &to) ? to : address;
}

uint64_t enlarged_return(const struct enlarged *e, uint64_t address, uint32_t copy, uint64_t callee)
{
    uint64_t to;
    return e->moved.run_count && move_translate_return(&e->moved, address, copy, callee, &to) ? to : address;
}
