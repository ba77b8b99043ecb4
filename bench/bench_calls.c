/*
 * bench_calls.c - how fast the calls of an image are found: libsqlite3, python3 and gcc's compiler by
 * default, or the files given.
 *
 * One line for each figure: name, value, unit, limit, separated by tabs. The time is that of calls_build()
 * alone, the least of several; the limit asks for 20 MB of file in 3 s.
 */
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "image/calls/calls.h"

#define ROUNDS 5

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 0, or 1 when the file cannot be read. */
static int bench(const char *path)
{
    const struct image_options options = {.no_debug_files = true};
    struct fathom_error err;
    struct image *image;
    struct stat file;
    if (stat(path, &file) < 0 || image_open(path, &options, &image, &err) < 0) {
        fprintf(stderr, "bench_calls: cannot read %s\n", path);
        return 1;
    }
    double best = 1e9;
    size_t count = 0, open = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct calls *calls;
        double from = seconds();
        if (calls_build(image, &calls, &err) < 0) {
            fprintf(stderr, "bench_calls: %s\n", err.text);
            image_close(image);
            return 1;
        }
        double took = seconds() - from;
        best = took < best ? took : best;
        const struct call_site *sites;
        count = calls_all(calls, &sites);
        open = 0;
        for (size_t i = 0; i < count; i++)
            open += sites[i].open;
        calls_free(calls);
    }
    double megabytes = (double)file.st_size / 1e6;
    printf("calls of %s (%.1f MB)\t%.3f\ts\t%.3f\n", image_name(image), megabytes, best, megabytes * 3 / 20);
    printf("call sites of %s\t%zu\tsites\t-\n", image_name(image), count);
    printf("of open frames\t%zu\tsites\t-\n", open);
    image_close(image);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "/usr/bin/python3",
                                        "/usr/lib/gcc/x86_64-linux-gnu/*/cc1"};
    int rc = 0;
    for (int i = 1; i < argc; i++)
        rc |= bench(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof usual / sizeof *usual; i++) {
        glob_t found;
        if (glob(usual[i], 0, NULL, &found) != 0)
            continue;
        rc |= bench(found.gl_pathv[0]);
        globfree(&found);
    }
    return rc;
}
