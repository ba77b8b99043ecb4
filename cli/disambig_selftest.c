/* disambig_selftest.c - `fathom disambig --selftest`: measures the patched program under the probe runtime. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/disambig.h"
#include "api/hooks/hooked.h"
#include "cli/interrupt.h"
#include "image/elf/program.h"
#include "image/name.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

struct selftest {
    struct image_cache *images;
    struct host host;
    struct hooked hooks;
    struct trie *trie;
};

/* Under which name programs ask for the library; NULL: none that is a file's. */
static const char *library_name(const struct disambig *d)
{
    const char *name = image_soname(d->image);
    name = name ? name : image_name(d->image);
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

/* A private directory with a link to the patched library, to be searched first. */
static int offer_library(const struct disambig *d, const char *whole, char *directory, size_t size,
                         struct fathom_error *err)
{
    const char *tmp = getenv("TMPDIR"), *name = library_name(d);
    char *link = NULL;
    if (!name)
        return error_set(err, EBADMSG, "the name that %s asks to be called by is no file name",
                         d->options->program);
    snprintf(directory, size, "%s/fathom-selftest.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(directory)) {
        *directory = 0;
        return error_system(err, errno, "cannot make a directory for the patched library");
    }
    int rc = asprintf(&link, "%s/%s", directory, name) < 0 ? error_memory(err) : 0;
    if (rc == 0 && symlink(whole, link) < 0)
        rc = error_system(err, errno, "cannot offer the patched library");
    free(link);
    return rc;
}

static void remove_library(const struct disambig *d, const char *directory)
{
    char *link;
    if (asprintf(&link, "%s/%s", directory, library_name(d)) >= 0) {
        unlink(link);
        free(link);
    }
    rmdir(directory);
}

static void stop(void *hooks)
{
    ((struct hooked *)hooks)->stop = 1;
}

/* The command, with the patched file in place of the program if that is what it runs. libraries: a directory; NULL: none. */
static int measure(const struct disambig *d, struct selftest *t, char *const *command, const char *libraries,
                   struct fathom_error *err)
{
    struct session_options options = {.no_map = true, .images = t->images, .log = &d->terminal->log};
    struct interrupted_run run;
    host_init(&t->host, &d->terminal->listener);
    int rc = hooked_open(&t->hooks, &options, getenv("FATHOM_PROBE_LIBRARY"), &t->host, err);
    if (rc < 0)
        return rc;
    interrupt_hold(&run);
    rc = hooked_start(&t->hooks, command, libraries, err);
    interrupt_begin(&run, stop, &t->hooks);
    if (rc == 0)
        hooked_serve(&t->hooks, &(struct hooked_serving){0}, 0);
    interrupt_end(&run);
    struct harvest harvest = {0};
    if (rc == 0)
        rc = harvest_directory(&harvest, t->trie, t->images, session_directory(t->hooks.session),
                               &d->terminal->log, err);
    if (rc == 0 && harvest.stores == 0)
        rc =
            error_set(err, ECHILD, "the probe runtime did not start in %s: nothing was measured", command[0]);
    harvest_free(&harvest);
    return rc;
}

static int judge(const struct disambig *d, struct trie *trie, struct fathom_error *err)
{
    struct pathmap *moved = NULL, *measured = NULL;
    struct measured m;
    int rc = pathmap_over(d->moved, &moved, err);
    if (rc == 0)
        rc = pathmap_over(trie, &measured, err);
    uint32_t own = rc == 0 ? pathmap_find_image(measured, d->options->output, &d->file.id, NULL) : 0;
    if (rc == 0 && (own == PATHMAP_NONE || !pathmap_image(measured, own).hooked))
        rc = error_set(err, EDOM, "%s did not run, or without hooks: nothing was measured of it",
                       d->options->output);
    if (rc == 0)
        rc = measured_compare(moved, measured, &d->file.id, &m, err);
    if (rc == 0) {
        printf("self-test: %llu measured contexts have the height of the moved map, %llu another; %llu are "
               "new, %llu "
               "below these\n",
               (unsigned long long)m.agree, (unsigned long long)m.wrong, (unsigned long long)m.unknown,
               (unsigned long long)m.below);
        if (m.aligned)
            printf("           %llu more, of files that were not changed, have another (the loader aligns "
                   "the stack)\n",
                   (unsigned long long)m.aligned);
        if (m.wrong) {
            struct pathmap_node node = pathmap_node(measured, m.first_wrong);
            struct pathmap_function f = pathmap_function(measured, node.function);
            char name[256];
            name_format(pathmap_image(measured, f.image).path, f.name, f.address, name, sizeof name);
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

/* A program is run in its own name's place; a library is found by a search path. */
int disambig_selftest(const struct disambig *d, struct fathom_error *err)
{
    struct selftest t = {.images = image_cache_new(&(struct image_options){.log = &d->terminal->log}),
                         .trie = trie_new()};
    char directory[4096] = "", *command[4096];
    size_t count = 0;
    bool program = image_entry(d->image, &(uint64_t){0});
    for (; d->options->command[count] && count + 1 < sizeof command / sizeof *command; count++)
        command[count] = d->options->command[count];
    command[count] = NULL;
    char *own = realpath(d->options->output, NULL);
    int failure = errno, rc = t.images && t.trie ? 0 : error_memory(err);
    if (rc == 0 && !own)
        rc = error_system(err, failure, "cannot run %s", d->options->output);
    if (program)
        command[0] = own;
    if (rc == 0 && program)
        rc = check_dynamic(own, err);
    else if (rc == 0)
        rc = offer_library(d, own, directory, sizeof directory, err);
    fflush(stdout);
    if (rc == 0)
        rc = measure(d, &t, command, *directory ? directory : NULL, err);
    if (rc == 0)
        rc = judge(d, t.trie, err);
    if (*directory)
        remove_library(d, directory);
    hooked_close(&t.hooks);
    trie_free(t.trie);
    image_cache_free(t.images);
    free(own);
    return rc;
}
