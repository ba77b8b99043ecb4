/* duplicate.c - see duplicate.h. */
#include "rewrite/duplicate/duplicate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "rewrite/duplicate/plan.h"
#include "rewrite/duplicate/snippets.h"

extern const uint8_t duplicate_start[] __attribute__((visibility("hidden"))); /* start.S */
extern const uint8_t duplicate_start_end[] __attribute__((visibility("hidden")));

/* Takes the plan's sites, with their places. Drops those of functions that were refused in the end. */
static void take_sites(struct duplicate_plan *plan, struct duplicated *out)
{
    for (size_t i = 0; i < plan->site_count; i++) {
        struct duplicate_site *site = &plan->sites[i];
        if (move_translate(&out->moved, site->address, COPY_INSTRUMENTED, false, &site->pc))
            plan->sites[out->site_count++] = *site;
    }
    out->sites = plan->sites;
    plan->sites = NULL;
    sort_by(out->sites, out->site_count, pc);
}

/* Lists which function each piece of the new code belongs to. */
static bool take_parts(const struct image *image, struct duplicated *out)
{
    const struct move_result *m = &out->moved;
    uint32_t last = IMAGE_NO_FUNCTION;
    struct move_run *runs = malloc((m->run_count + 1) * sizeof *runs);
    out->parts = malloc((m->run_count + 1) * sizeof *out->parts);
    if (!runs || !out->parts) {
        free(runs);
        return false;
    }
    memcpy(runs, m->runs, m->run_count * sizeof *runs);
    sort_by(runs, m->run_count, to);
    for (size_t i = 0; i < m->run_count; i++) {
        uint32_t function = image_function_at(image, runs[i].from);
        if (function == last || function == IMAGE_NO_FUNCTION)
            continue;
        out->parts[out->part_count++] =
            (struct duplicate_part){runs[i].to - runs[i].before, image_function(image, function)->address};
        last = function;
    }
    free(runs);
    return true;
}

static void count_functions(const struct duplicate_plan *plan, struct duplicated *out)
{
    for (size_t i = 0; i + 1 < plan->function_count; i += 2) {
        uint8_t checking = out->moved.refusals[i], refusal = checking ? checking : out->moved.refusals[i + 1];
        out->refused[refusal]++;
        out->functions += refusal == MOVE_MOVABLE;
    }
    out->refused[MOVE_MOVABLE] = 0;
}

static int make_file(const struct move_survey *survey, const struct duplicate_plan *plan,
                     struct duplicated *out, struct fathom_error *err)
{
    const struct move_plan all = {.functions = plan->functions,
                                  .function_count = plan->function_count,
                                  .calls = plan->calls,
                                  .call_count = plan->call_count,
                                  .start = duplicate_start,
                                  .start_size = (size_t)(duplicate_start_end - duplicate_start)};
    int rc = move_apply(survey, &all, &out->moved, err);
    return rc < 0 ? rc : move_check(survey, &all, &out->moved, err);
}

/* Whether it is the C library or the loader, which run before any runtime can. */
static bool is_too_early(const struct image *image)
{
    const char *soname = image_soname(image);
    return soname && (strcmp(soname, "libc.so.6") == 0 || strncmp(soname, "ld-linux", 8) == 0 ||
                      strncmp(soname, "libc.musl", 9) == 0);
}

int duplicate_image(const struct image *image, const struct calls *calls,
                    const struct duplicate_options *options, struct duplicated *out, struct fathom_error *err)
{
    struct duplicate_plan plan = {0};
    struct move_survey *survey = NULL;
    *out = (struct duplicated){0};
    if (is_too_early(image))
        return error_set(err, ENOTSUP, "%s: code of the C library runs before a runtime can",
                         image_path(image));
    int rc = move_survey_new(image, &survey, err);
    if (rc == 0)
        rc = duplicate_plan_make(survey, calls, options, &plan, out, err);
    if (rc == 0)
        rc = make_file(survey, &plan, out, err);
    if (rc == 0) {
        count_functions(&plan, out);
        take_sites(&plan, out);
        rc = take_parts(image, out) ? 0 : error_memory(err);
    }
    if (rc < 0)
        duplicated_clear(out);
    duplicate_plan_free(&plan);
    move_survey_free(survey);
    return rc;
}

void duplicated_clear(struct duplicated *duplicated)
{
    move_result_free(&duplicated->moved);
    free(duplicated->sites);
    free(duplicated->parts);
    *duplicated = (struct duplicated){0};
}
