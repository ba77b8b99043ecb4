/* selftest.c - measures the patched program's heights with the probe runtime, and compares them with the moved map. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/disambig/disambig.h"
#include "base/scratch.h"
#include "image/elf/program.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

/* The name by which programs load the library; NULL: it is not a file name. */
static const char *library_name(const struct fathom_disambig *d)
{
    const char *name = image_soname(d->image);
    name = name ? name : image_name(d->image);
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

/* Makes a private directory with a link to the patched library, which the loader will search first. */
static int offer_library(struct fathom_disambig *d, struct fathom_error *err)
{
    const char *name = library_name(d);
    char *link;
    if (!name)
        return error_set(err, EBADMSG, "the name that %s asks to be called by is no file name",
                         d->options.program);
    int rc = scratch_new(&d->test.library, err);
    if (rc < 0)
        return rc;
    if (asprintf(&link, "%s/%s", scratch_directory(d->test.library), name) < 0)
        return error_memory(err);
    if (symlink(d->test.own, link) < 0)
        rc = error_system(err, errno, "cannot offer the patched library");
    free(link);
    return rc;
}

void disambig_test_clear(struct fathom_disambig *d)
{
    struct disambig_test *t = &d->test;
    scratch_free(t->library);
    hooked_close(&t->hooked);
    trie_free(t->trie);
    image_cache_free(t->images);
    free(t->command);
    free(t->own);
}

static int judge_result(const struct fathom_disambig *d, FILE *out, struct fathom_error *err)
{
    struct pathmap *moved = NULL, *measured = NULL;
    struct measured m;
    int rc = pathmap_over(d->moved, &moved, err);
    if (rc == 0)
        rc = pathmap_over(d->test.trie, &measured, err);
    uint32_t own = rc == 0 ? pathmap_find_image(measured, d->options.output, &d->file.id, NULL) : 0;
    if (rc == 0 && (own == PATHMAP_NONE || !pathmap_image(measured, own).hooked))
        rc = error_set(err, EDOM, "%s did not run, or without hooks: nothing was measured of it",
                       d->options.output);
    if (rc == 0)
        rc = measured_compare(moved, measured, &d->file.id, &m, err);
    if (rc == 0) {
        fprintf(out,
                "self-test: %llu measured contexts have the height of the moved map, %llu another; %llu are "
                "new, %llu below these\n",
                (unsigned long long)m.agree, (unsigned long long)m.wrong, (unsigned long long)m.unknown,
                (unsigned long long)m.below);
        if (m.aligned)
            fprintf(out,
                    "           %llu more, of files that were not changed, have another (the loader aligns "
                    "the stack)\n",
                    (unsigned long long)m.aligned);
        if (m.wrong) {
            struct pathmap_node node = pathmap_node(measured, m.first_wrong);
            char name[256];
            pathmap_function_name(measured, node.function, name, sizeof name);
            rc = error_set(err, EDOM, "%s is at height %u, where the moved map has %u", name, node.height,
                           m.expected);
        } else if (m.agree == 0) {
            rc = error_set(err, EDOM,
                           "no measured context is in the moved map: is it the program that was run?");
        }
    }
    pathmap_close(moved);
    pathmap_close(measured);
    return rc;
}

static int check_dynamic(const char *path, struct fathom_error *err)
{
    struct program program;
    int rc = program_find(path, &program, err);
    if (rc == 0 && program.kind == PROGRAM_STATIC)
        rc = error_set(err, ECHILD,
                       "%s is statically linked, and the probe runtime cannot be loaded into it: train it, "
                       "and compare that map's paths ('fathom map paths')",
                       path);
    return rc;
}

/* Makes the command run the patched program, or find the patched library by its search path. */
static int place_original(struct fathom_disambig *d, struct fathom_error *err)
{
    if (!image_entry(d->image, &(uint64_t){0}))
        return offer_library(d, err);
    d->test.command[0] = d->test.own;
    return check_dynamic(d->test.own, err);
}

int fathom_disambig_test_open(struct fathom_disambig *d, struct fathom_error *err)
{
    struct disambig_test *t = &d->test;
    size_t count = 0;
    while (d->options.command[count])
        count++;
    t->images = image_cache_new(&(struct image_options){.log = &d->host.log});
    t->trie = trie_new();
    t->command = malloc((count + 1) * sizeof *t->command);
    if (!t->images || !t->trie || !t->command)
        return error_memory(err);
    memcpy(t->command, d->options.command, (count + 1) * sizeof *t->command);
    t->own = realpath(d->options.output, NULL);
    if (!t->own)
        return error_system(err, errno, "cannot run %s", d->options.output);
    struct session_options session = {.no_map = true, .images = t->images, .log = &d->host.log};
    int rc = place_original(d, err);
    return rc == 0 ? hooked_open(&t->hooked, &session, d->options.runtime, &d->host, err) : rc;
}

int fathom_disambig_test_start(struct fathom_disambig *d, struct fathom_error *err)
{
    const char *libraries = d->test.library ? scratch_directory(d->test.library) : NULL;
    return hooked_start(&d->test.hooked, d->test.command, libraries, err);
}

void fathom_disambig_test_run(struct fathom_disambig *d)
{
    hooked_serve(&d->test.hooked, &(struct hooked_serving){0}, 0);
}

int fathom_disambig_test_judge(struct fathom_disambig *d, FILE *out, struct fathom_error *err)
{
    struct disambig_test *t = &d->test;
    struct harvest harvest = {0};
    int rc = harvest_directory(&harvest, t->trie, t->images, session_directory(t->hooked.session),
                               &d->host.log, err);
    if (rc == 0 && harvest.stores == 0)
        rc = error_set(err, ECHILD, "the probe runtime did not start in %s: nothing was measured",
                       t->command[0]);
    harvest_free(&harvest);
    return rc == 0 ? judge_result(d, out, err) : rc;
}

void fathom_disambig_test_stop(struct fathom_disambig *d)
{
    atomic_store(&d->test.hooked.stop, true);
}
