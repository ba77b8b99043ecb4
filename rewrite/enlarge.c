/* enlarge.c - see enlarge.h. */
#include "rewrite/enlarge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "rewrite/edits.h"
#include "rewrite/growth/frames.h"
#include "rewrite/patch/patch.h"

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

/* The wraps of the pad's function and copy. */
static const struct wrap *wraps_of(const struct enlarge_plan *of, const struct pad *pad, size_t *count)
{
    const struct wrap *w = of->wraps;
    size_t first =
        lower_bound(i, (size_t)0, of->wrap_count,
                    w[i].address < pad->address || (w[i].address == pad->address && w[i].copy < pad->copy));
    *count = 0;
    while (first + *count < of->wrap_count && w[first + *count].address == pad->address &&
           w[first + *count].copy == pad->copy)
        ++*count;
    return *count ? w + first : NULL;
}

static int plan_moves(const struct image *image, const struct growth *growth, const struct enlarge_plan *of,
                      struct planning *out, struct fathom_error *err)
{
    struct unit u = {0};
    const struct pad *pads = of->pads;
    size_t count = of->count, wrapped;
    int rc = 0;
    out->functions = calloc(count + 1, sizeof *out->functions);
    out->edits = calloc(count + 1, sizeof *out->edits);
    out->count = count;
    if (!out->functions || !out->edits)
        return error_memory(err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct edits *e = &out->edits[i];
        rc = pads[i].bytes ? edits_make(&u, growth, &pads[i], e) : 0;
        const struct wrap *wraps = wraps_of(of, &pads[i], &wrapped);
        if (rc == 0)
            rc = edits_wrap(image, wraps, wrapped, e);
        out->functions[i] =
            (struct move_function){.address = pads[i].address, .edits = e->at, .edit_count = e->count};
        if (rc == -ENOMEM)
            error_memory(err);
        else if (rc < 0)
            error_set(err, -rc, "the frame of the function at 0x%llx cannot grow, or its calls",
                      (unsigned long long)pads[i].address);
    }
    unit_free(&u);
    return rc;
}

/* Checks ------------------------------------------------------------------------------------------------------ */

/* Whether an address of the new file is in moved code, rather than in what was added behind a call (a jump, or an
 * instruction that restores SP), which may not return. */
static bool was_moved(const struct move_result *moved, uint64_t address)
{
    for (size_t i = 0; i < moved->run_count; i++)
        if (address - moved->runs[i].to < moved->runs[i].size)
            return true;
    return false;
}

static bool is_understood(const struct move_result *moved, const struct growth *growth, uint32_t function)
{
    if (function == IMAGE_NO_FUNCTION || growth_is_understood(growth, function))
        return function != IMAGE_NO_FUNCTION;
    enum growth_refusal refusal = growth_refusal(growth, function);
    bool behind_call =
        refusal == GROWTH_JUMPS_OUT || refusal == GROWTH_CODE_UNREACHED || refusal == GROWTH_ENDS_OPEN;
    return behind_call && !was_moved(moved, growth_where(growth, function));
}

/* Whether the new file's code, its CFI and the frame contradict each other. Other refusals mean that the analysis
 * cannot follow the code at its new place (a table of jumps, a number like an address), which move_check() has
 * compared with the old code. */
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

/* The new file, read as any file is. */
struct reading {
    struct image *image;
    struct growth *growth;
};

static int reading_open(struct reading *r, const struct move_result *moved, struct fathom_error *err)
{
    int rc = image_open_memory("", moved->elf, moved->size, &(struct image_options){.no_debug_files = true},
                               &r->image, err);
    return rc == 0 ? growth_new(r->image, &r->growth, err) : rc;
}

static void reading_close(struct reading *r)
{
    growth_free(r->growth);
    image_close(r->image);
}

/* Whether the padded function's frame is unchanged, or understood in the new file by its own code and CFI. With
 * `checked`, after move_check(), it is enough that they do not contradict it. */
static bool is_pad_understood(const struct reading *r, const struct move_result *moved, const struct pad *pad,
                              bool checked)
{
    uint64_t now;
    uint32_t function = move_entry(moved, pad->address, pad->copy, &now) ? image_function_entry(r->image, now)
                                                                         : IMAGE_NO_FUNCTION;
    return !pad->bytes || is_understood(moved, r->growth, function) ||
           (checked && !is_contradicted(r->growth, function));
}

int enlarge_movable(const struct image *image, const struct growth *growth, const struct enlarge_plan *of,
                    bool *movable, struct fathom_error *err)
{
    const struct pad *pads = of->pads;
    size_t count = of->count;
    struct planning planning = {0};
    struct move_survey *survey = NULL;
    struct move_result result = {0};
    struct reading reading = {0};
    memset(movable, 0, count * sizeof *movable);
    int rc = move_survey_new(image, &survey, err);
    if (rc == 0)
        rc = plan_moves(image, growth, of, &planning, err);
    struct move_plan asked = {.functions = planning.functions, .function_count = count};
    if (rc == 0)
        rc = move_apply(survey, &asked, &result, err);
    if (rc == 0)
        rc = reading_open(&reading, &result, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        movable[i] =
            result.refusals[i] == MOVE_MOVABLE && is_pad_understood(&reading, &result, &pads[i], false);
    reading_close(&reading);
    move_result_free(&result);
    move_survey_free(survey);
    planning_clear(&planning);
    return rc == -ENOTSUP ? 0 : rc;
}

/* Files ------------------------------------------------------------------------------------------------------- */

/* Whether the call's exceptions land in its own function, and how many bytes of pushed arguments are below its
 * SP. 0 or -ENOMEM. */
static int read_landing(struct unit *u, const struct growth *growth, uint64_t call, bool *lands,
                        uint32_t *bytes)
{
    const struct image *image = growth->whole.image;
    uint32_t function = image_function_at(image, call);
    *lands = false;
    if (function == IMAGE_NO_FUNCTION)
        return 0;
    int rc = unit_follow(u, &growth->whole, image_function(image, function)->owner);
    size_t k = lower_bound(i, (size_t)0, u->landing_count, u->landings[i].end <= call);
    const struct unit_point *point = unit_point_at(u, call);
    *lands = k < u->landing_count && u->landings[k].start <= call && point;
    *bytes = *lands ? point->args : 0;
    return rc;
}

/* Checks that exceptions of wrapped calls land where they did. */
static int check_landings(const struct growth *growth, const struct reading *r,
                          const struct move_result *moved, const struct enlarge_plan *of,
                          struct fathom_error *err)
{
    struct unit u = {0};
    int rc = 0;
    for (size_t i = 0; i < of->wrap_count && rc == 0; i++) {
        const struct wrap *wrap = &of->wraps[i];
        uint64_t now = 0;
        uint32_t bytes, bytes_now;
        bool lands, lands_now = false;
        rc = read_landing(&u, growth, wrap->site, &lands, &bytes);
        if (rc == 0 && lands && move_translate(moved, wrap->site, wrap->copy, false, &now))
            rc = read_landing(&u, r->growth, now, &lands_now, &bytes_now);
        if (rc < 0)
            rc = error_memory(err);
        else if (lands && (!now || (lands_now && bytes_now != bytes + wrap->bytes)))
            rc = error_set(err, EBADMSG,
                           "exceptions of the call at 0x%llx do not land in the new file as they did",
                           (unsigned long long)wrap->site);
    }
    unit_free(&u);
    return rc;
}

static int check_frames(const struct growth *growth, const struct move_result *moved,
                        const struct enlarge_plan *of, struct fathom_error *err)
{
    struct reading reading = {0};
    int rc = reading_open(&reading, moved, err);
    for (size_t i = 0; i < of->count && rc == 0; i++)
        if (!is_pad_understood(&reading, moved, &of->pads[i], true))
            rc = error_set(err, EBADMSG,
                           "the frame of the function at 0x%llx is not understood in the new file",
                           (unsigned long long)of->pads[i].address);
    if (rc == 0)
        rc = check_landings(growth, &reading, moved, of, err);
    reading_close(&reading);
    return rc;
}

static int emit_anew(const struct image *image, const struct growth *growth, const struct enlarge_plan *of,
                     struct enlarged *out, struct fathom_error *err)
{
    struct planning planning = {0};
    struct move_survey *survey = NULL;
    struct move_result result = {0};
    int rc = plan_moves(image, growth, of, &planning, err);
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
        rc = check_frames(growth, &result, of, err);
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

/* Whether the function is emitted anew because it has copies, wraps or guards. */
static bool is_emitted(const struct enlarge_plan *plan, size_t i)
{
    size_t wrapped;
    uint64_t address = plan->pads[i].address;
    wraps_of(plan, &plan->pads[i], &wrapped);
    if (wrapped || plan->pads[i].copy || (i + 1 < plan->count && plan->pads[i + 1].address == address))
        return true;
    for (size_t k = 0; k < plan->guard_count; k++)
        if (plan->guards[k].caller == address)
            return true;
    return false;
}

/* Sorts pads that fit in place first; returns their number. */
static size_t split_pads(const struct image *image, const struct growth *growth,
                         const struct enlarge_plan *plan, struct pad *sorted)
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
    e.in_place = split_pads(image, growth, plan, sorted);
    struct enlarge_plan anew = *plan;
    anew.pads = sorted + e.in_place;
    anew.count -= e.in_place;
    int rc = patch_resize(image, growth, sorted, e.in_place, &e.elf, &e.size, &e.id, err);
    if (rc == 0)
        rc = image_open_memory(image_path(image), e.elf, e.size, NULL, &resized, err);
    if (rc == 0)
        rc = patch_check(image, resized, sorted, e.in_place, err);
    if (rc == 0 && (anew.count || anew.call_count))
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
