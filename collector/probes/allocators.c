/* allocators.c - see allocators.h. */
#include "collector/probes/allocators.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "collector/targets/proc.h"
#include "image/probe_sites.h"

const struct allocator allocators[VERIFY_ALLOCATORS] = {
    [VERIFY_SIZE_FIRST] = {"arg1=%di arg2=\\1",
                           {"malloc", "valloc", "pvalloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t",
                            "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t"}},
    [VERIFY_SIZE_SECOND] = {"arg1=%si arg2=\\1", {"realloc", "memalign", "aligned_alloc"}},
    [VERIFY_SIZE_THIRD] = {"arg1=%dx arg2=\\1", {"posix_memalign"}},
    [VERIFY_SIZE_FIRST_SECOND] = {"arg1=%di arg2=%si", {"calloc"}},
    [VERIFY_SIZE_SECOND_THIRD] = {"arg1=%si arg2=%dx", {"reallocarray"}},
};

static int stop_at_site(void *context, const struct probe_site *site)
{
    (void)context;
    return site->fault == PROBE_FINE;
}

static bool has_allocator(const char *path)
{
    struct image *image;
    struct fathom_error err;
    if (image_open(path, NULL, &image, &err) < 0)
        return false;
    const bool has = probe_sites_functions(image, "malloc", 0, PROBE_OF_ENTRIES, stop_at_site, NULL) > 0;
    image_close(image);
    return has;
}

/* Order in which files are examined: the program 0, a library 1, the C library 2; 3: never, as the loader has
 * an allocator of its own. */
static unsigned rank_of(const char *path, const char *program)
{
    const char *name = strrchr(path, '/') + 1;
    if (strcmp(path, program) == 0)
        return 0;
    if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
        strncmp(name, "ld-musl", 7) == 0)
        return 2;
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0 ? 3 : 1;
}

static int file_of(pid_t pid, char path[PATH_MAX], struct fathom_error *err)
{
    char program[PATH_MAX];
    struct maps maps;
    bool found = false;
    int rc = proc_maps(pid, &maps);
    if (rc < 0)
        return error_system(err, -rc, "cannot read which files process %d has mapped", (int)pid);
    proc_program(pid, program, sizeof program);
    for (unsigned rank = 0; rank < 3 && !found; rank++)
        for (size_t i = 0; i < maps.count && !found; i++) {
            const struct vma *m = &maps.list[i];
            if (m->path[0] == '/' && m->prot & PROT_EXEC && rank_of(m->path, program) == rank &&
                snprintf(path, PATH_MAX, "/proc/%d/root%s", (int)pid, m->path) < PATH_MAX)
                found = has_allocator(path);
        }
    proc_maps_free(&maps);
    return found
               ? 0
               : error_set(err, ENOENT,
                           "process %d has mapped no file with a function malloc: its allocations cannot be "
                           "sampled while it runs (--alloc -- COMMAND does so from its start)",
                           (int)pid);
}

int allocators_find(const pid_t *pids, size_t count, struct allocator_files *out, struct fathom_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct allocator_file file;
        struct stat st;
        int rc = file_of(pids[i], file.path, err);
        if (rc < 0)
            return rc;
        if (stat(file.path, &st) != 0)
            return error_system(err, errno, "cannot read %s", file.path);
        file.device = st.st_dev;
        file.inode = st.st_ino;
        size_t same = 0;
        while (same < out->count &&
               (out->list[same].device != file.device || out->list[same].inode != file.inode))
            same++;
        if (same == out->count && !vec_push(out->list, out->count, out->capacity, file))
            return error_memory(err);
    }
    return 0;
}
