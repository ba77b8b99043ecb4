/* tracefs.c - numbers of the tracing file system; see tracefs.h. */
#include "collector/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

static int read_number(int dir, const char *path, uint64_t *value)
{
    char text[32], *end;
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    int rc = n < 0 ? -errno : -EINVAL;
    close(fd);
    if (n <= 0)
        return rc;
    text[n] = '\0';
    uint64_t number = strtoull(text, &end, 10);
    if (end == text)
        return -EINVAL;
    *value = number;
    return 0;
}

/* A mount that only its descriptor reaches and that ends with it (fsmount, Linux 5.2). */
static int private_mount(void)
{
    int fs = fsopen("tracefs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    int mount = -1;
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
    int code = errno;
    close(fs);
    return mount < 0 ? -code : mount;
}

int tracefs_number(const char *path, uint64_t *value)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int dir = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
            continue;
        int rc = read_number(dir, path, value);
        close(dir);
        if (rc == 0)
            return 0;
    }
    int mount = private_mount();
    if (mount < 0)
        return mount;
    int rc = read_number(mount, path, value);
    close(mount);
    return rc;
}
