/* train_steps.c - see train_steps.h. */
#include "cli/train_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/outfile.h"
#include "perfdata/format.h"

int train_open_map(const struct train_options *options, struct pathmap **old, struct fathom_error *err)
{
    *old = NULL;
    if (!options->append || access(options->output, F_OK) != 0)
        return 0;
    return pathmap_open(options->output, old, err);
}

/* An image that old lacks was added by this run. */
static bool say_other_builds(const struct train_options *options, const struct trie *trie,
                             const struct pathmap *old, struct terminal *terminal)
{
    bool any = false;
    for (uint32_t i = 0; i < trie_image_count(trie); i++) {
        struct build_id id;
        bool stale = false;
        const char *path = trie_image_path(trie, i, &id);
        if (pathmap_find_image(old, path, &id, &stale) != PATHMAP_NONE || !stale)
            continue;
        any = true;
        terminal_say(terminal, LOG_WARNING,
                     "%s has another build of %s: it now holds both, and what earlier runs learned about "
                     "that build does not apply to this one",
                     outfile_path(options->out), path);
    }
    return any;
}

/* Waits until no other training adds to a map in this map's directory (the map itself is replaced, so it
 * cannot be locked). Returns the descriptor to close; -1: cannot be locked, which is reported. */
static int lock_directory(const struct train_options *options, struct terminal *terminal)
{
    const char *target = outfile_target(options->out);
    if (!target)
        return -1;
    char *copy = strdup(target);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, rc = fd < 0 ? -1 : 0;
    free(copy);
    if (rc == 0)
        rc = flock(fd, LOCK_EX | LOCK_NB);
    if (rc < 0 && errno == EWOULDBLOCK) {
        terminal_say(terminal, LOG_NOTE, "waiting for another training to finish writing next to %s", target);
        while ((rc = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
            ;
    }
    if (rc == 0)
        return fd;
    terminal_say(terminal, LOG_WARNING,
                 "cannot lock the directory of %s (%s): what another training adds now is lost", target,
                 strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int merge_and_write(const struct train_options *options, struct trie *trie, struct pathmap **old,
                           struct terminal *terminal, struct fathom_error *err)
{
    int rc = train_open_map(options, old, err);
    if (rc == 0 && *old)
        rc = trials_merge(trie, *old, err);
    if (rc == 0)
        rc = trie_write(trie, options->out, err);
    return rc == 0 && *old ? say_other_builds(options, trie, *old, terminal) : rc;
}

int train_save(const struct train_options *options, struct trie *trie, struct pathmap **old,
               struct terminal *terminal, struct fathom_error *err)
{
    if (trie_node_count(trie) <= 1)
        return error_set(err, ENODATA,
                         "nothing was learned, as no call or sample was seen: %s is not written",
                         outfile_path(options->out));
    pathmap_close(*old);
    *old = NULL;
    int lock = options->append ? lock_directory(options, terminal) : -1;
    int rc = merge_and_write(options, trie, old, terminal, err);
    if (lock >= 0)
        close(lock);
    return rc;
}
