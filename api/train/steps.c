/* steps.c - the map before and after a training; see train.h. */
#include "api/train/train.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int train_open_map(struct fathom_train *t, struct fathom_error *err)
{
    pathmap_close(t->old);
    t->old = NULL;
    if (!t->options.append || access(t->options.output, F_OK) != 0)
        return 0;
    return pathmap_open(t->options.output, &t->old, err);
}

/* An image that old lacks was added by this run. */
static bool say_other_builds(const struct fathom_train *t, const struct trie *trie)
{
    bool any = false;
    for (uint32_t i = 0; i < trie_image_count(trie); i++) {
        struct build_id id;
        bool stale = false;
        const char *path = trie_image_path(trie, i, &id);
        if (pathmap_find_image(t->old, path, &id, &stale) != PATHMAP_NONE || !stale)
            continue;
        any = true;
        log_write(&t->host.log, LOG_WARNING,
                  "%s has another build of %s: it now holds both, and what earlier runs learned about "
                  "that build does not apply to this one",
                  outfile_path(t->out), path);
    }
    return any;
}

/* Waits until no other training adds to a map in this map's directory (the map itself is replaced, so it
 * cannot be locked). Returns the descriptor to close; -1: cannot be locked, which is reported. */
static int lock_directory(const struct fathom_train *t)
{
    const char *target = outfile_target(t->out);
    if (!target)
        return -1;
    char *copy = strdup(target);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, rc = fd < 0 ? -1 : 0;
    free(copy);
    if (rc == 0)
        rc = flock(fd, LOCK_EX | LOCK_NB);
    if (rc < 0 && errno == EWOULDBLOCK) {
        log_write(&t->host.log, LOG_NOTE, "waiting for another training to finish writing next to %s",
                  target);
        while ((rc = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
            ;
    }
    if (rc == 0)
        return fd;
    log_write(&t->host.log, LOG_WARNING,
              "cannot lock the directory of %s (%s): what another training adds now is lost", target,
              strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int merge_and_write(struct fathom_train *t, struct trie *trie, struct fathom_error *err)
{
    int rc = train_open_map(t, err);
    if (rc == 0 && t->old)
        rc = trials_merge(trie, t->old, err);
    if (rc == 0)
        rc = trie_write(trie, t->out, err);
    return rc == 0 && t->old ? say_other_builds(t, trie) : rc;
}

int train_save(struct fathom_train *t, struct trie *trie, struct fathom_error *err)
{
    if (trie_node_count(trie) <= 1)
        return error_set(err, ENODATA,
                         "nothing was learned, as no call or sample was seen: %s is not written",
                         outfile_path(t->out));
    pathmap_close(t->old);
    t->old = NULL;
    int lock = t->options.append ? lock_directory(t) : -1;
    int rc = merge_and_write(t, trie, err);
    if (lock >= 0)
        close(lock);
    return rc;
}
