/* kernel.c - the names of the recorded kernel's functions, for an archive; see archiving.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/archive/archiving.h"

#define KERNEL_FILE_MOST ((size_t)256 << 20) /* bytes; kallsyms has about 10 MB */

/* Reads a file of /proc or /sys, which do not report their size. malloc'd; NULL: it cannot be read. */
static char *read_stream(const char *path, size_t *size)
{
    char *text = NULL, block[65536];
    FILE *in = fopen(path, "re"), *out = in ? open_memstream(&text, size) : NULL;
    size_t n;
    for (size_t all = 0; out && all < KERNEL_FILE_MOST && (n = fread(block, 1, sizeof block, in)) > 0;
         all += n)
        fwrite(block, 1, n, out);
    if (in)
        fclose(in);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

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
    char *text = read_stream(path, &file.size);
    file.text = text;
    int rc = text ? see(context, &file, err) : 0;
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
