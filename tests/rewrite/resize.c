/*
 * resize.c - pads the frames of a file: "resize IN OUT [SEED [MOST]]" lets each frame that can grow do so by
 * a random multiple of 16 (seed 0: by the most that fits), at most MOST bytes, and checks the result. Prints
 * how many functions that call others can grow, and why others cannot. "resize -a IN OUT ...": also frames
 * that grow only where the function is emitted anew, and those that grow by instructions that are added, by
 * up to GROWTH_MOST or MOST bytes. "resize -v IN": only tells of each function that cannot grow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rewrite/enlarge.h"
#include "rewrite/patch/patch.h"
#include "tests/rewrite/write_program.h"

static int fail(const struct fathom_error *err)
{
    fprintf(stderr, "resize: %s\n", err->text);
    return 1;
}

/* xorshift64* (Vigna, 2016) */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dULL >> 33;
}

/* anew: by address, which functions can be emitted anew; NULL: none. */
static size_t choose(const struct image *image, const struct growth *frames, const bool *anew, uint64_t seed,
                     uint32_t limit, struct pad *pads)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
    size_t count = 0;
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        uint32_t most = anew && anew[f] ? GROWTH_MOST : growth_most(frames, f);
        most = most < limit ? most : limit / PAD_UNIT * PAD_UNIT;
        uint32_t bytes = seed ? (uint32_t)(random_next(&state) % (most / PAD_UNIT + 1)) * PAD_UNIT : most;
        if (bytes)
            pads[count++] = (struct pad){image_function(image, f)->address, bytes, 0};
    }
    return count;
}

static void tell(const struct image *image, const struct growth *frames, size_t pad_count, int verbose)
{
    uint32_t counts[GROWTH_REFUSALS] = {0}, callers = 0, wide[3] = {0};
    char name[128];
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        enum growth_refusal refusal = growth_refusal(frames, f);
        if (!growth_calls(frames, f))
            continue;
        callers++;
        counts[refusal]++;
        uint32_t most = growth_most(frames, f);
        wide[0] += most >= 48;
        wide[1] += most >= 96;
        wide[2] += most >= GROWTH_MOST;
        if (verbose && refusal != GROWTH_RESIZABLE) {
            image_function_format(image, f, name, sizeof name);
            printf("%llx %llx %s: %s\n", (unsigned long long)image_function(image, f)->address,
                   (unsigned long long)growth_where(frames, f), name, growth_refusal_text(refusal));
        }
    }
    printf(
        "%zu padded; of %u functions with calls, %u can grow (%.1f%%), %u by 48 bytes, %u by 96, %u by %u\n",
        pad_count, callers, counts[0], callers ? 100.0 * counts[0] / callers : 0, wide[0], wide[1], wide[2],
        GROWTH_MOST);
    for (unsigned r = 1; r < GROWTH_REFUSALS; r++)
        if (counts[r])
            printf("%6.1f%% %s\n", 100.0 * counts[r] / callers, growth_refusal_text((enum growth_refusal)r));
}

/* For each function whether it can be emitted anew with a larger frame; NULL: failed. Prints how many of those that call can,
 * and how many of these by instructions that are added. */
static bool *find_movable(const struct image *image, const struct growth *frames, struct fathom_error *err)
{
    uint32_t all = image_function_count(image), count = 0, callers = 0, grow = 0, asked = 0, added = 0;
    struct pad *asked_for = calloc(all + 1ul, sizeof *asked_for);
    bool *movable = calloc(all + 1ul, sizeof *movable), *result = calloc(all + 1ul, sizeof *result);
    for (uint32_t f = 0; f < all && asked_for; f++)
        if (growth_is_understood(frames, f) || growth_by_insertion(frames, f))
            asked_for[count++] = (struct pad){image_function(image, f)->address, GROWTH_MOST, 0};
    if (!asked_for || !movable || !result ||
        enlarge_movable(image, frames, &(struct enlarge_plan){.pads = asked_for, .count = count}, movable,
                        err) < 0) {
        free(result);
        result = NULL;
    }
    for (uint32_t k = 0; k < count && result; k++) {
        uint32_t f = image_function_entry(image, asked_for[k].address);
        result[f] = movable[k];
        asked += growth_by_insertion(frames, f);
        added += movable[k] && growth_by_insertion(frames, f);
    }
    for (uint32_t f = 0; f < all && result; f++) {
        callers += growth_calls(frames, f);
        grow += growth_calls(frames, f) && (result[f] || growth_most(frames, f));
    }
    if (result)
        printf("%u of %u functions with calls can grow (%.1f%%), %u of %u frames made by pushes with them\n",
               grow, callers, callers ? 100.0 * grow / callers : 0, added, asked);
    free(asked_for);
    free(movable);
    return result;
}

/* As resize(), with all means. */
static int enlarge(const struct image *image, const struct growth *frames, char **argv, int argc)
{
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    uint32_t limit = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : GROWTH_MOST;
    struct fathom_error err = {0};
    struct enlarged file = {0};
    struct pad *pads = calloc(image_function_count(image) + 1, sizeof *pads);
    bool *anew = find_movable(image, frames, &err);
    int rc = pads && anew ? 0 : -1;
    size_t count = rc == 0 ? choose(image, frames, anew, seed, limit, pads) : 0;
    if (rc == 0)
        rc = enlarge_frames(image, frames, &(struct enlarge_plan){.pads = pads, .count = count}, &file, &err);
    if (rc == 0) {
        printf("%zu padded, %zu of them anew\n", count, file.anew);
        rc = write_program(argv[2], file.elf, file.size) < 0;
    }
    enlarged_clear(&file);
    free(pads);
    free(anew);
    return rc ? fail(&err) : 0;
}

static int resize(const struct image *image, const struct growth *frames, char **argv, int argc)
{
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    uint32_t limit = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : GROWTH_MOST;
    struct fathom_error err = {0};
    struct pad *pads = calloc(image_function_count(image) + 1, sizeof *pads);
    if (!pads)
        return 1;
    size_t count = choose(image, frames, NULL, seed, limit, pads), size;
    void *elf;
    struct build_id id;
    struct image *after;
    int rc = patch_resize(image, frames, pads, count, &elf, &size, &id, &err);
    if (rc == 0) {
        rc = write_program(argv[2], elf, size) < 0;
        free(elf);
        if (rc == 0 && (rc = image_open(argv[2], NULL, &after, &err)) == 0) {
            if (!build_id_equal(&id, image_build_id(after)))
                rc = error_set(&err, EBADMSG, "the build-id is another than was said");
            else
                rc = patch_check(image, after, pads, count, &err);
            image_close(after);
        }
    }
    free(pads);
    tell(image, frames, count, 0);
    return rc ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct image *image;
    struct growth *frames;
    if (argc < 3) {
        fprintf(stderr, "usage: resize [-a] IN OUT [SEED [MOST]], or resize -v IN\n");
        return 2;
    }
    int verbose = strcmp(argv[1], "-v") == 0, all = strcmp(argv[1], "-a") == 0, rc = 0;
    if (all) {
        argv++;
        argc--;
    }
    if (image_open(argv[verbose ? 2 : 1], NULL, &image, &err) < 0)
        return fail(&err);
    if (growth_new(image, &frames, &err) < 0) {
        image_close(image);
        return fail(&err);
    }
    if (verbose)
        tell(image, frames, 0, 1);
    else
        rc = all ? enlarge(image, frames, argv, argc) : resize(image, frames, argv, argc);
    growth_free(frames);
    image_close(image);
    return rc;
}
