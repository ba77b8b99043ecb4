#include "api/map/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/fathom/map.h"
#include "api/host.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session_directory.h"

#define COPIES_MAX 1000 /* OUTPUT.recovered, OUTPUT.recovered.2, ... */

static int make_map(const struct session_directory *directory, bool partial, const char *output,
                    const struct log *log, struct fathom_error *err)
{
    struct image_options image_options = {.log = log};
    struct image_cache *images = image_cache_new(&image_options);
    struct trie *trie = trie_new();
    struct harvest harvest = {.partial = partial};
    int rc = images && trie ? 0 : error_memory(err);
    if (rc == 0)
        rc = harvest_directory(&harvest, trie, images, directory->path, log, err);
    if (rc == 0 && harvest.calls == 0)
        rc = error_set(err, ECHILD, "no calls were recorded in %s", directory->path);
    if (rc == 0)
        rc = trie_save(trie, output, err);
    if (rc == 0)
        log_write(log, LOG_NOTE,
                  "%llu calls in %llu process%s, %u contexts in %s; the stacks sampled meanwhile are lost",
                  (unsigned long long)harvest.calls, (unsigned long long)harvest.stores,
                  harvest.stores == 1 ? "" : "es", trie_node_count(trie) - 1, output);
    harvest_free(&harvest);
    trie_free(trie);
    image_cache_free(images);
    return rc;
}

static int check_output(const char *given, const struct session_about *about, const char *directory,
                        struct fathom_error *err)
{
    if (given)
        return 0;
    if (!about->output[0])
        return error_set(err, EINVAL, "%s does not record the name of its map: give --output", directory);
    if (access(about->output, F_OK) == 0)
        return error_set(err, EEXIST, "%s already exists: give another file with --output", about->output);
    return 0;
}

/* Makes the map, and removes or closes the directory. */
static int recover_map(struct session_directory *directory, bool partial, const char *output,
                       const struct log *log, struct fathom_error *err)
{
    int rc = make_map(directory, partial, output, log, err);
    if (rc == 0 || rc == -ECHILD)
        session_directory_remove(directory);
    else
        session_directory_close(directory);
    return rc;
}

int fathom_map_recover(const char *path, const char *output, const struct fathom_listener *listener,
                       struct fathom_error *err)
{
    struct host host;
    host_init(&host, listener);
    struct session_directory directory;
    struct session_about about;
    int rc = session_directory_adopt(path, &directory, &about, err);
    if (rc < 0)
        return rc;
    rc = check_output(output, &about, path, err);
    if (rc < 0) {
        session_directory_close(&directory);
        return rc;
    }
    return recover_map(&directory, about.partial, output ? output : about.output, &host.log, err);
}

/* Chooses a file name that is not taken. false: there is none. */
static bool name_copy(const struct session_about *about, char *out, size_t size)
{
    for (int i = 1; about->output[0] && i <= COPIES_MAX; i++) {
        int n = i == 1 ? snprintf(out, size, "%s.recovered", about->output)
                       : snprintf(out, size, "%s.recovered.%d", about->output, i);
        if (n > 0 && (size_t)n < size && access(out, F_OK) != 0)
            return true;
    }
    return false;
}

static void recover_one(const char *path, const struct log *log)
{
    struct fathom_error err = {0};
    struct session_directory directory;
    struct session_about about;
    char output[PATH_MAX + 32];
    int rc = session_directory_adopt(path, &directory, &about, NULL);
    if (rc == -ENOMSG)
        session_directory_sweep(path);
    if (rc < 0)
        return;
    if (about.calls) {
        log_write(log, LOG_NOTE, "a recording of calls that was killed left %s: removed", path);
        session_directory_remove(&directory);
        return;
    }
    if (!name_copy(&about, output, sizeof output)) {
        log_write(log, about.output[0] ? LOG_NOTE : LOG_DEBUG,
                  "a training that was killed left %s: 'fathom map recover -o MAP' makes a map of it", path);
        session_directory_close(&directory);
        return;
    }
    log_write(log, LOG_NOTE, "a training that was killed left %s: recovering its map", path);
    rc = recover_map(&directory, about.partial, output, log, &err);
    if (rc < 0 && rc != -ECHILD)
        log_write(log, LOG_WARNING, "the map of %s cannot be recovered: %s", path, err.text);
}

void recover_abandoned(const struct log *log)
{
    char **paths;
    size_t count;
    if (session_directory_list(&paths, &count, NULL) < 0)
        return; /* the training itself will report what is wrong there */
    for (size_t i = 0; i < count; i++) {
        recover_one(paths[i], log);
        free(paths[i]);
    }
    free(paths);
}
