/* fuzz_patch.c - a fuzz target for the analysis of frames and the patcher: resizes what can be in a damaged file, enlarges what
 * can be by all means, and wraps calls. */
#include <errno.h>
#include <stdlib.h>

#include "rewrite/edits.h"
#include "rewrite/enlarge.h"
#include "rewrite/patch/patch.h"
#include "disambig/wrap/edges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was promised in the headers. */
static void require(int condition)
{
    if (!condition)
        abort();
}

static size_t choose(const struct image *image, const struct growth *frames, uint8_t seed, struct pad *pads)
{
    size_t count = 0;
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        uint32_t most = growth_most(frames, f);
        enum growth_refusal refusal = growth_refusal(frames, f);
        require(most % PAD_UNIT == 0 && most <= GROWTH_MOST);
        require((most > 0) == (refusal == GROWTH_RESIZABLE) && refusal < GROWTH_REFUSALS);
        uint32_t bytes = (f + seed) % 3 ? most : most / PAD_UNIT / 2 * PAD_UNIT;
        if (bytes)
            pads[count++] = (struct pad){image_function(image, f)->address, bytes, 0};
    }
    return count;
}

/* What a damaged file's parts share (code in its own .eh_frame, say) may be found wrong, or not be a file any more. */
static void check(const struct image *before, const void *elf, size_t size, const struct pad *pads,
                  size_t count)
{
    struct image_options options = {.no_debug_files = true};
    struct image *after;
    struct fathom_error err = {0};
    if (image_open_memory("resized.so", elf, size, &options, &after, NULL) < 0)
        return;
    int rc = patch_check(before, after, pads, count, &err);
    require(rc == 0 || (rc == -EBADMSG && err.code == EBADMSG && err.text[0]));
    image_close(after);
}

/* By functions that are emitted anew, too, and instructions that are added. */
static void enlarge(const struct image *image, const struct growth *frames)
{
    size_t all = image_function_count(image), count = 0, fit = 0;
    bool *movable = calloc(all + 1, sizeof *movable);
    struct pad *asked = calloc(all + 1, sizeof *asked), *pads = calloc(all + 1, sizeof *pads);
    struct fathom_error err = {0};
    struct enlarged file;
    require(asked && movable && pads);
    for (uint32_t f = 0; f < all; f++) {
        require(!growth_by_insertion(frames, f) || growth_most(frames, f) == 0);
        if (growth_is_understood(frames, f) || growth_by_insertion(frames, f))
            asked[count++] = (struct pad){image_function(image, f)->address, GROWTH_MOST, 0};
    }
    int rc =
        enlarge_movable(image, frames, &(struct enlarge_plan){.pads = asked, .count = count}, movable, &err);
    require(rc == 0 || err.text[0]);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (movable[i])
            pads[fit++] = asked[i];
    if (rc == 0) {
        rc = enlarge_frames(image, frames, &(struct enlarge_plan){.pads = pads, .count = fit}, &file, &err);
        require(rc == 0 || err.text[0]);
    }
    if (rc == 0)
        enlarged_clear(&file);
    free(asked);
    free(movable);
    free(pads);
}

/* Wraps what can be of a function's calls. Returns how many those are. */
static size_t choose_wraps(const struct image *image, const struct calls *calls, struct callees *callees,
                           uint32_t function, struct wrap *wraps)
{
    const struct call_site *sites;
    size_t count = calls_of(calls, function, &sites), chosen = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t callee =
            sites[i].kind == CALL_DIRECT ? image_function_entry(image, sites[i].target) : IMAGE_NO_FUNCTION;
        enum wrap_refusal refusal;
        if (sites[i].tail || callee == IMAGE_NO_FUNCTION || !edits_behind_call(image, sites[i].address))
            continue;
        require(callees_judge(callees, callee, &refusal) == 0 && refusal < WRAP_REFUSALS);
        if (refusal == WRAP_POSSIBLE)
            wraps[chosen++] = (struct wrap){.address = image_function(image, function)->address,
                                            .site = sites[i].address,
                                            .bytes = PAD_UNIT * (1 + (uint32_t)(i % 40))};
    }
    return chosen;
}

/* Wraps calls, without larger frames. */
static void wrap(const struct image *image, const struct growth *frames)
{
    const struct call_site *sites;
    struct calls *calls;
    struct fathom_error err = {0};
    struct enlarged file;
    require(calls_build(image, &calls, NULL) == 0);
    size_t all = image_function_count(image), pad_count = 0, count = 0, kept = 0;
    bool *movable = calloc(all + 1, sizeof *movable);
    struct pad *pads = calloc(all + 1, sizeof *pads);
    struct wrap *wraps = calloc(calls_all(calls, &sites) + 1, sizeof *wraps);
    struct callees *callees = callees_new(frames);
    require(movable && pads && wraps && callees);
    for (uint32_t f = 0; f < all; f++) {
        size_t more = choose_wraps(image, calls, callees, f, wraps + count);
        if (more)
            pads[pad_count++] = (struct pad){image_function(image, f)->address, 0, 0};
        count += more;
    }
    struct enlarge_plan plan = {.pads = pads, .count = pad_count, .wraps = wraps, .wrap_count = count};
    int rc = enlarge_movable(image, frames, &plan, movable, &err);
    require(rc == 0 || err.text[0]);
    for (size_t i = 0; rc == 0 && i < pad_count; i++)
        if (movable[i])
            pads[kept++] = pads[i];
    plan.count = kept;
    if (rc == 0) {
        rc = enlarge_frames(image, frames, &plan, &file, &err);
        require(rc == 0 || err.text[0]);
    }
    if (rc == 0)
        enlarged_clear(&file);
    callees_free(callees);
    calls_free(calls);
    free(movable);
    free(pads);
    free(wraps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_options options = {.no_debug_files = true};
    struct image *image;
    struct growth *frames;
    struct fathom_error err = {0};
    if (image_open_memory("fuzz.so.1.2", data, size, &options, &image, NULL) < 0)
        return 0;
    require(growth_new(image, &frames, &err) == 0);
    for (uint64_t at = 0; at < 4096; at += 61)
        growth_shifted(frames, at);
    struct pad *pads = calloc((size_t)image_function_count(image) + 1, sizeof *pads);
    require(pads != NULL);
    size_t count = choose(image, frames, size ? data[size - 1] : 0, pads), made;
    void *elf;
    struct build_id id;
    int rc = patch_resize(image, frames, pads, count, &elf, &made, &id, &err);
    require(rc == 0 || (rc == -EINVAL && err.text[0]));
    if (rc == 0) {
        require(made == size && id.size == image_build_id(image)->size);
        check(image, elf, made, pads, count);
        free(elf);
    }
    free(pads);
    enlarge(image, frames);
    wrap(image, frames);
    growth_free(frames);
    image_close(image);
    return 0;
}
