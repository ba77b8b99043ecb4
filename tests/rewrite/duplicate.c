/* duplicate.c - makes a duplicated file (rewrite/duplicate/) for tests and measurements: duplicate IN OUT [ENTRIES [BORING [WHAT]]], with
 * ENTRIES all, callers, cycles or none, BORING a number, "all" or "none", and WHAT letters: l(oads), s(tores), f(rames), b(locks),
 * e(ntries). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/duplicate/duplicate.h"
#include "tests/rewrite/write_program.h"

static void print(const struct duplicated *d)
{
    printf("%u functions, %u early, checks: %u at entries, %u in loops; %u boring loops, %u without a place; "
           "%zu sites, %u of "
           "them slow; not logged: %u string, %u by a segment, %u gathers, %u by 32 bits, %u without room; "
           "%llu bytes became %llu\n",
           d->functions, d->early, d->entry_checks, d->loop_checks, d->boring, d->unchecked, d->site_count,
           d->slow, d->unlogged[1], d->unlogged[2], d->unlogged[3], d->unlogged[4], d->unlogged[0],
           (unsigned long long)d->moved.moved_bytes, (unsigned long long)d->moved.emitted_bytes);
    for (unsigned i = 1; i < MOVE_REFUSALS; i++)
        if (d->refused[i])
            printf("%u: it %s\n", d->refused[i], move_refusal_text((enum move_refusal)i));
}

static struct duplicate_options options_of(int argc, char **argv)
{
    static const char *const entries[] = {"all", "callers", "cycles", "none"};
    struct duplicate_options options = {
        .entries = DUPLICATE_ENTRIES_CYCLES, .boring = 4, .loads = true, .stores = true};
    for (unsigned i = 0; argc > 3 && i < 4; i++)
        if (strcmp(argv[3], entries[i]) == 0)
            options.entries = (enum duplicate_entries)i;
    if (argc > 4)
        options.boring = strcmp(argv[4], "all") == 0    ? DUPLICATE_LOOPS_ALL
                         : strcmp(argv[4], "none") == 0 ? DUPLICATE_LOOPS_NONE
                                                        : (int32_t)strtol(argv[4], NULL, 10);
    if (argc > 5) {
        options.loads = strchr(argv[5], 'l');
        options.stores = strchr(argv[5], 's');
        options.stack = strchr(argv[5], 'f');
        options.blocks = strchr(argv[5], 'b');
        options.entered = strchr(argv[5], 'e');
    }
    return options;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct image *image = NULL;
    struct calls *calls = NULL;
    struct duplicated made = {0};
    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: %s IN OUT [ENTRIES [BORING [WHAT]]]\n", argv[0]);
        return 2;
    }
    struct duplicate_options options = options_of(argc, argv);
    int rc = image_open(argv[1], NULL, &image, &err);
    if (rc == 0)
        rc = calls_build(image, &calls, &err);
    if (rc == 0)
        rc = duplicate_image(image, calls, &options, &made, &err);
    if (rc == 0) {
        print(&made);
        rc = write_program(argv[2], made.moved.elf, made.moved.size);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    duplicated_clear(&made);
    calls_free(calls);
    image_close(image);
    return rc < 0;
}
