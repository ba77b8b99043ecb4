/* uprobes.c - see uprobes.h. */
#include "collector/events/uprobes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/events/tracefs.h"

#define BATCH 3072 /* bytes per write: the kernel accepts less than 4096 */

struct uprobes {
    int fd; /* of uprobe_events */
    bool defined;
    char event[64];
};

static int refused(struct fathom_error *err, int code)
{
    if (code == EPERM || code == EACCES)
        return error_set(err, code, "only root may use uprobes");
    if (code == ENOENT)
        return error_set(err, code, "this kernel has no uprobe events, or its tracefs is not accessible");
    return error_system(err, code, "cannot open the kernel's uprobe_events");
}

/* Removes the events of processes that are gone. The kernel refuses to remove one that is in use, by a
 * process that we cannot see. */
static void remove_stale(int fd)
{
    char *text;
    size_t size;
    int last = 0;
    if (tracefs_read("uprobe_events", &text, &size) < 0)
        return;
    for (const char *at = text; (at = strstr(at, "p:fathom_")) != NULL; at++) {
        char line[64];
        int pid, length = 0;
        if (sscanf(at, "p:fathom_%d/entry%n", &pid, &length) != 1 || !length || pid == last || pid <= 0)
            continue;
        last = pid;
        if (kill(pid, 0) != 0 && errno == ESRCH) {
            int n = snprintf(line, sizeof line, "-:fathom_%d/entry\n", pid);
            if (write(fd, line, (size_t)n) != n)
                continue;
        }
    }
    free(text);
}

int uprobes_open(struct uprobes **out, struct fathom_error *err)
{
    struct uprobes *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->fd = tracefs_open("uprobe_events", O_WRONLY | O_APPEND);
    if (p->fd < 0) {
        int code = -p->fd;
        free(p);
        return refused(err, code);
    }
    remove_stale(p->fd);
    snprintf(p->event, sizeof p->event, "fathom_%d:entry", (int)getpid());
    *out = p;
    return 0;
}

static int write_batch(struct uprobes *p, const char *text, size_t size)
{
    while (size) {
        ssize_t n = write(p->fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        p->defined = true;
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

/* The file is named by our descriptor, as a path may contain characters that the kernel's parser would
 * interpret. */
int uprobes_add(struct uprobes *p, const char *path, const uint64_t *offsets, size_t count,
                struct fathom_error *err)
{
    char batch[BATCH];
    int file = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (file < 0)
        return error_system(err, errno, "cannot open %s", path);
    for (size_t i = 0, used = 0; i < count && rc == 0; i++) {
        used +=
            (size_t)snprintf(batch + used, sizeof batch - used, "p:fathom_%d/entry /proc/self/fd/%d:0x%llx\n",
                             (int)getpid(), file, (unsigned long long)offsets[i]);
        if (i + 1 == count || used > sizeof batch - 128) {
            rc = write_batch(p, batch, used);
            used = 0;
        }
    }
    close(file);
    return rc < 0 ? error_system(err, -rc, "the kernel refuses to probe %s", path) : 0;
}

const char *uprobes_event(const struct uprobes *p)
{
    return p->event;
}

void uprobes_close(struct uprobes *p)
{
    if (!p)
        return;
    if (p->defined) {
        char text[64];
        int n = snprintf(text, sizeof text, "-:fathom_%d/entry\n", (int)getpid());
        write_batch(p, text, (size_t)n);
    }
    close(p->fd);
    free(p);
}
