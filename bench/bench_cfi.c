/*
 * bench_cfi.c - how fast CFI tables are built and looked up: libsqlite3 and libc by default, or the files
 * given.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs. Building is the whole of
 * image_open() without debug files, median of several; a look-up is one of cfi_lookup() at PCs that are known
 * beforehand: anywhere in code, and in a hot set as a profile has it (few functions, most samples in the
 * first of them).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "image/cfi/cfi.h"
#include "image/image.h"

#define ROUNDS  9
#define LOOKUPS (1 << 20)
#define HOT     64 /* functions in the hot set */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct subject {
    const struct cfi *cfi;
    const struct cfi_range *ranges;
    size_t count;
};

/* ns per look-up, median; the rows are added up so that none is left out. */
static double look_up(const struct cfi *cfi, const uint64_t *addresses)
{
    double times[ROUNDS];
    static volatile int64_t sink;
    for (unsigned r = 0; r < ROUNDS; r++) {
        double from = seconds();
        int64_t sum = 0;
        for (size_t i = 0; i < LOOKUPS; i++)
            sum += cfi_lookup(cfi, addresses[i]).cfa_offset;
        times[r] = (seconds() - from) * 1e9 / LOOKUPS;
        sink = sum;
    }
    (void)sink;
    qsort(times, ROUNDS, sizeof *times, ascending);
    return times[ROUNDS / 2];
}

static uint64_t address_in(const struct cfi_range *range, uint64_t *state)
{
    return range->address + random_next(state) % range->size;
}

static void bench_lookups(const struct subject *s, const char *name)
{
    uint64_t *addresses = malloc(LOOKUPS * sizeof *addresses), state = 88172645463325252ULL;
    if (!addresses || s->count == 0) {
        free(addresses);
        return;
    }
    for (size_t i = 0; i < LOOKUPS; i++)
        addresses[i] = address_in(&s->ranges[random_next(&state) % s->count], &state);
    printf("cfi_lookup random %s\t%.1f\tns\t50\n", name, look_up(s->cfi, addresses));
    const struct cfi_range *hot[HOT];
    for (unsigned i = 0; i < HOT; i++)
        hot[i] = &s->ranges[random_next(&state) % s->count];
    for (size_t i = 0; i < LOOKUPS; i++) {
        /* function n has about twice the weight of function n + 8 */
        unsigned n = 0;
        for (uint64_t bits = random_next(&state); n < HOT - 8 && (bits & 1); bits >>= 1)
            n += 8;
        addresses[i] = address_in(hot[n + random_next(&state) % 8], &state);
    }
    printf("cfi_lookup hot %s\t%.1f\tns\t50\n", name, look_up(s->cfi, addresses));
    free(addresses);
}

/* Milliseconds to open an image, median; the last one stays open. */
static double bench_open(const char *path, struct image **out)
{
    const struct image_options options = {.no_debug_files = true};
    double times[ROUNDS];
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct fathom_error err;
        struct image *image;
        double from = seconds();
        if (image_open(path, &options, &image, &err) < 0) {
            fprintf(stderr, "bench_cfi: %s\n", err.text);
            exit(1);
        }
        times[r] = (seconds() - from) * 1e3;
        image_close(*out);
        *out = image;
    }
    qsort(times, ROUNDS, sizeof *times, ascending);
    return times[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
                                        "/lib/x86_64-linux-gnu/libc.so.6"};
    double total = 0;
    int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    for (int i = 0; i < count; i++) {
        struct image *image = NULL;
        total += bench_open(argc > 1 ? argv[i + 1] : usual[i], &image);
        struct subject s = {.cfi = image_cfi(image)};
        s.count = cfi_ranges(s.cfi, &s.ranges);
        struct cfi_statistics statistics;
        cfi_statistics(s.cfi, &statistics);
        printf("CFI rows of %s\t%u\trows\t-\n", image_name(image), statistics.rows);
        printf("CFI table of %s\t%zu\tKiB\t-\n", image_name(image), statistics.bytes / 1024);
        bench_lookups(&s, image_name(image));
        image_close(image);
    }
    printf("%s\t%.1f\tms\t%s\n", argc > 1 ? "all opened" : "libsqlite3 and libc opened", total,
           argc > 1 ? "-" : "50");
    return 0;
}
