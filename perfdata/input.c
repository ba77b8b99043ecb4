/* input.c - see input.h. */
#include "perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/format.h"

#define SPOOL_START (1024 * 1024)

/* Reads to the end of fd. The buffer doubles. */
static int spool(int fd, const char *path, struct input *input, struct fathom_error *err)
{
    const uint64_t magic = FILE_MAGIC;
    size_t capacity = 0, size = 0;
    uint8_t *buffer = NULL;
    int rc = 0;
    for (;;) {
        if (size == capacity) {
            capacity = capacity ? capacity * 2 : SPOOL_START;
            uint8_t *grown = realloc(buffer, capacity);
            if (!grown) {
                rc = error_memory(err);
                break;
            }
            buffer = grown;
        }
        ssize_t n = read(fd, buffer + size, capacity - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = error_system(err, errno, "cannot read %s", path);
        if (n <= 0)
            break;
        size += (size_t)n;
        if (size >= sizeof magic && memcmp(buffer, &magic, 4) != 0 && memcmp(buffer + 4, &magic, 4) != 0) {
            rc = error_set(err, ENOMSG, "%s does not give perf.data", path);
            break;
        }
    }
    if (rc < 0) {
        free(buffer);
        return rc;
    }
    *input = (struct input){.data = buffer, .size = size, .spool = buffer};
    return 0;
}

int input_open(const char *path, struct input *input, struct fathom_error *err)
{
    if (strcmp(path, "-") == 0)
        return spool(STDIN_FILENO, "standard input", input, err);
    struct stat st;
    if (stat(path, &st) < 0)
        return error_system(err, errno, "cannot open %s", path);
    if (S_ISDIR(st.st_mode))
        return error_set(err, EISDIR, "%s is a directory: recordings of perf record --threads are not read",
                         path);
    if (!S_ISREG(st.st_mode)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return error_system(err, errno, "cannot open %s", path);
        int rc = spool(fd, path, input, err);
        close(fd);
        return rc;
    }
    struct input opened = {0};
    int rc = file_view_open(path, false, &opened.view, err);
    if (rc < 0)
        return rc;
    opened.data = opened.view.data;
    opened.size = opened.view.size;
    *input = opened;
    return 0;
}

void input_close(struct input *input)
{
    file_view_close(&input->view);
    free(input->spool);
    *input = (struct input){0};
}
