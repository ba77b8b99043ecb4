/* kernel.c - the names of the recorded kernel's functions, for an archive; see archiving.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/archive/archiving.h"
#include "base/file.h"

#define KERNEL_FILE_MOST ((size_t)256 << 20) /* bytes; kallsyms has about 10 MB */

static bool has_kernel(const struct archiving *a)
{
    const struct event *events;
    for (size_t i = reader_events(a->reader, &events); i-- > 0;)
        if (attr_has_kernel(&events[i].attr))
            return true;
    return false;
}

static int see_file(archive_see_kernel *see, void *context, const char *path, struct fathom_error *err)
{
    struct archive_kernel_file file = {.name = strrchr(path, '/') + 1, .path = path};
    char *text = NULL;
    int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && file_read_text(fd, KERNEL_FILE_MOST, &text, &file.size) == 0) {
        file.text = text;
        rc = see(context, &file, err);
    }
    if (fd >= 0)
        close(fd);
    free(text);
    return rc;
}

int archive_kernel(const struct archiving *a, archive_see_kernel *see, void *context,
                   struct fathom_error *err)
{
    static const char *const paths[] = {"/proc/kallsyms", "/proc/modules", "/sys/kernel/notes"};
    const struct kernel_layout *recorded = archive_contents_kernel(a->contents), *here;
    if (!has_kernel(a))
        return 0;
    struct running_kernel *running = running_kernel_open(&kernel_places_here);
    if (!running)
        return error_memory(err);
    int rc = running_kernel_layout(running, &here, err);
    bool same =
        rc == 0 && recorded->id.size && build_id_equal(&recorded->id, &here->id) && here->kernel.start;
    running_kernel_close(running);
    if (rc == 0 && !same)
        log_write(&a->host.log, LOG_WARNING,
                  "names of the kernel's functions will be missing: another kernel was recorded than the one "
                  "that runs here, or it hides its addresses from this user");
    for (size_t i = 0; rc == 0 && same && i < sizeof paths / sizeof *paths; i++)
        rc = see_file(see, context, paths[i], err);
    return rc;
}
