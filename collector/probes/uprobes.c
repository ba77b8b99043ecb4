/* uprobes.c - see uprobes.h. */
#include "collector/probes/uprobes.h"

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
#define LINE  1024 /* bytes of one probe, at most */

struct uprobes {
    struct uprobes_options options;
    int fd; /* of uprobe_events */
    bool defined;
    char event[64];
};

static int refused(struct fathom_error *err, int code)
{
    if (code == EPERM || code == EACCES)
        return error_set(err, code, "only root may put probes at functions (uprobes): run as root");
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
    if (tracefs_read("uprobe_events", &text, &size) < 0)
        return;
    for (const char *at = text; (at = strstr(at, ":fathom_")) != NULL; at++) {
        char line[64 + UPROBES_NAME], name[UPROBES_NAME + 1];
        int pid, length = 0;
        if (sscanf(at, ":fathom_%d/%40[A-Za-z0-9_]%n", &pid, name, &length) != 2 || !length || pid <= 0)
            continue;
        if (kill(pid, 0) != 0 && errno == ESRCH) {
            int n = snprintf(line, sizeof line, "-:fathom_%d/%s\n", pid, name);
            if (write(fd, line, (size_t)n) != n) /* it was removed with another of its probes */
                continue;
        }
    }
    free(text);
}

int uprobes_open(const struct uprobes_options *options, struct uprobes **out, struct fathom_error *err)
{
    struct uprobes *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->options = *options;
    p->fd = tracefs_open("uprobe_events", O_WRONLY | O_APPEND);
    if (p->fd < 0) {
        int code = -p->fd;
        free(p);
        return refused(err, code);
    }
    remove_stale(p->fd);
    snprintf(p->event, sizeof p->event, "fathom_%d:%s", (int)getpid(), options->name);
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
static size_t put_line(const struct uprobes *p, const struct uprobe_place *place, int file, char *out,
                       size_t size)
{
    const struct uprobes_options *o = &p->options;
    char counter[32] = "";
    if (place->counter)
        snprintf(counter, sizeof counter, "(0x%llx)", (unsigned long long)place->counter);
    return (size_t)snprintf(
        out, size, "%c:fathom_%d/%s /proc/self/fd/%d:0x%llx%s %s\n", o->returns ? 'r' : 'p', (int)getpid(),
        o->name, file, (unsigned long long)place->offset, counter, place->arguments ? place->arguments : "");
}

int uprobes_add(struct uprobes *p, const char *path, const struct uprobe_place *places, size_t count,
                struct fathom_error *err)
{
    char batch[BATCH];
    int file = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (file < 0)
        return error_system(err, errno, "cannot open %s", path);
    for (size_t i = 0, used = 0; i < count && rc == 0; i++) {
        used += put_line(p, &places[i], file, batch + used, sizeof batch - used);
        if (used >= sizeof batch)
            rc = -E2BIG;
        else if (i + 1 == count || used > sizeof batch - LINE) {
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
        char text[128];
        int n = snprintf(text, sizeof text, "-:fathom_%d/%s\n", (int)getpid(), p->options.name);
        write_batch(p, text, (size_t)n);
    }
    close(p->fd);
    free(p);
}
