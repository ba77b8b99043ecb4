/* search.c - reads the program and its map, and chooses frame sizes, copies, guards and wraps. */
#include "api/disambig/disambig.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "disambig/clone/past_plt.h"
#include "disambig/search/recount.h"

struct map_frames_of disambig_frames_of(const struct fathom_disambig *d)
{
    const struct fathom_disambig_options *o = &d->options;
    return (struct map_frames_of){.map = d->map,
                                  .number = d->number,
                                  .image = d->image,
                                  .growth = d->growth,
                                  .anew = d->methods.anew,
                                  .inserted = d->methods.insert,
                                  .symbolic = d->past != NULL,
                                  .compiled = o->emit != NULL};
}

static uint32_t largest_pad(const struct fathom_disambig_options *o)
{
    return o->most && o->most < GROWTH_MOST ? (uint32_t)o->most / PAD_UNIT * PAD_UNIT : GROWTH_MOST;
}

/* Makes calls of the library's own functions bypass its PLT. */
static int bypass_plt(struct fathom_disambig *d, struct fathom_error *err)
{
    struct map_frames_of of = disambig_frames_of(d);
    of.symbolic = true;
    int rc = past_plt_make(&of, &d->past, err);
    if (rc < 0 || !d->past)
        return rc;
    d->read = d->map;
    d->map = NULL;
    rc = pathmap_over(d->past, &d->map, err);
    if (rc == 0)
        d->number = pathmap_find_image(d->map, d->options.program, image_build_id(d->image), NULL);
    return rc;
}

int disambig_open(struct fathom_disambig *d, struct fathom_error *err)
{
    const struct fathom_disambig_options *o = &d->options;
    bool stale = false;
    int rc = pathmap_open(o->map, &d->map, err);
    if (rc == 0)
        rc = image_open(o->program, &(struct image_options){.log = &d->host.log}, &d->image, err);
    if (rc == 0)
        rc = image_need_code(d->image, err);
    if (rc < 0)
        return rc;
    d->number = pathmap_find_image(d->map, o->program, image_build_id(d->image), &stale);
    if (d->number == PATHMAP_NONE)
        return stale ? error_set(err, ESTALE, "%s is of another build of %s: train it again", o->map,
                                 o->program)
                     : error_set(err, ENOMSG, "%s has no paths of %s", o->map, o->program);
    if (!pathmap_image(d->map, d->number).hooked)
        return error_set(
            err, ENOMSG,
            "the training of %s did not see every call of %s: train it by hooks (fathom-train(1))", o->map,
            o->program);
    progress_show(&d->host.progress, "reading the frames", 0, 0);
    rc = o->emit ? 0 : growth_new(d->image, &d->growth, err);
    if (rc == 0 && o->symbolic)
        rc = bypass_plt(d, err);
    struct map_frames_of of = disambig_frames_of(d);
    return rc == 0 ? map_frames_make(&of, &d->join, err) : rc;
}

static void show_progress(void *context, uint64_t steps, double precise, double stack)
{
    host_status(context, "%llu steps: %.2f%% precise, stack %.2f times as long", (unsigned long long)steps,
                100 * precise, stack);
}

/* Counts what was precise in the map that was read, with the PLT's stubs. */
static int count_before(struct fathom_disambig *d, struct fathom_error *err)
{
    struct lineage_order order;
    struct recount before;
    int rc = lineage_order(d->read, &order, err);
    if (rc < 0)
        return rc;
    rc = recount_map(d->read, &order, NULL, NULL, NULL, &before, err);
    lineage_order_clear(&order);
    d->found.weight_before = before.weight;
    d->found.precise_before = before.precise_weight;
    d->found.paths_before = before.paths;
    d->found.paths_precise_before = before.precise_paths;
    return rc;
}

/* The last resort, after frame sizes and copies. */
static int wrap_calls(struct fathom_disambig *d, const struct map_frames_of *of,
                      struct search_problem problem, struct fathom_error *err)
{
    const struct fathom_disambig_options *o = &d->options;
    const struct search_result *r = &d->found;
    if (r->paths_precise_after == r->paths ||
        (problem.target < 1 && (double)r->precise_after >= problem.target * (double)r->weight))
        return 0;
    if (d->methods.clone) {
        problem.map = d->cloned.cloned.map;
        problem.most = d->cloned.most;
        problem.unshifted = d->cloned.unshifted;
    }
    struct wrap_problem wrapping = {
        {of, &d->join, problem.map, d->cloned.bodies}, &problem, r, largest_pad(o)};
    int rc = wrap_run(&wrapping, &d->wrapped, err);
    if (rc == 0 && d->wrapped.found.pads)
        d->found = d->wrapped.found;
    return rc;
}

int disambig_search(struct fathom_disambig *d, struct fathom_error *err)
{
    const struct fathom_disambig_options *o = &d->options;
    for (uint32_t i = 0; i < pathmap_function_count(d->map); i++)
        if (d->join.most[i] > largest_pad(o))
            d->join.most[i] = largest_pad(o);
    struct search_problem problem = {.map = d->map,
                                     .most = d->join.most,
                                     .unshifted = d->join.unshifted,
                                     .costly = d->join.inserted,
                                     .stack = 1 + o->budget / 100,
                                     .target = o->target / 100,
                                     .seed = o->seed,
                                     .random = o->search == FATHOM_DISAMBIG_RANDOM,
                                     .steps = o->steps,
                                     .progress = show_progress,
                                     .context = &d->host};
    struct map_frames_of of = disambig_frames_of(d);
    struct clone_problem cloning = {
        &of, &d->join, &problem, largest_pad(o), o->code / 100, d->methods.edges ? o->edges / 100 : 0};
    uint64_t start = clock_ns();
    int rc =
        d->methods.clone ? clone_run(&cloning, &d->cloned, err) : search_run(&problem, &d->searched, err);
    d->found = d->methods.clone ? d->cloned.found : d->searched;
    if (rc == 0 && d->methods.wrap)
        rc = wrap_calls(d, &of, problem, err);
    if (rc == 0 && d->read)
        rc = count_before(d, err);
    d->seconds = (double)(clock_ns() - start) * 1e-9;
    return rc;
}
