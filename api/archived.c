#include "api/archived.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "archive/unpack.h"
#include "base/scratch.h"
#include "base/text.h"

struct archived {
    char *input;
    struct scratch *scratch;
    struct manifest manifest; /* after archived_unpack(), like the next */
    char *recording, *root, *kept, *map;
    char *kernel; /* directory */
};

void archived_close(struct archived *a)
{
    if (!a)
        return;
    scratch_free(a->scratch);
    manifest_free(&a->manifest);
    free(a->input);
    free(a->recording);
    free(a->root);
    free(a->kept);
    free(a->map);
    free(a->kernel);
    free(a);
}

static char *path_below(const struct archived *a, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", scratch_directory(a->scratch), name) < 0 ? NULL : path;
}

int archived_begin(const char *input, struct archived **out, struct fathom_error *err)
{
    *out = NULL;
    if (!unpack_is_archive(input))
        return 0;
    struct archived *a = calloc(1, sizeof *a);
    if (!a)
        return error_memory(err);
    int rc = asprintf(&a->input, "%s", input) < 0 ? error_memory(err) : scratch_new(&a->scratch, err);
    if (rc < 0)
        archived_close(a);
    else
        *out = a;
    return rc;
}

int archived_unpack(struct archived *a, struct fathom_error *err)
{
    if (!a)
        return 0;
    int rc = unpack(a->input, scratch_directory(a->scratch), &a->manifest, err);
    if (rc < 0)
        return rc;
    a->recording = path_below(a, MANIFEST_RECORDING);
    a->root = path_below(a, MANIFEST_ROOT);
    a->kept = path_below(a, MANIFEST_KEPT);
    a->map = path_below(a, MANIFEST_MAP);
    a->kernel = path_below(a, MANIFEST_KERNEL);
    return a->recording && a->root && a->kept && a->map && a->kernel ? 0 : error_memory(err);
}

const char *archived_directory(const struct archived *a)
{
    return a ? scratch_directory(a->scratch) : NULL;
}

const char *archived_recording(const struct archived *a, const char *input)
{
    return a ? a->recording : input;
}

const char *archived_root(const struct archived *a, const char *symfs)
{
    return symfs || !a ? symfs : a->root;
}

int archived_check_root(const char *symfs, struct fathom_error *err)
{
    struct stat st;
    if (!symfs)
        return 0;
    if (stat(symfs, &st) < 0)
        return error_system(err, errno, "--symfs: cannot open %s", text_name(symfs));
    return S_ISDIR(st.st_mode) ? 0 : error_set(err, ENOTDIR, "--symfs: %s is not a directory", symfs);
}

const char *archived_kept(const struct archived *a)
{
    return a ? a->kept : NULL;
}

const char *archived_map(const struct archived *a, const char *given)
{
    return given || !a || !a->manifest.map ? given : a->map;
}

const char *archived_map_name(const struct archived *a, const char *given)
{
    return given || !a ? given : a->manifest.map;
}

struct running_kernel *archived_kernel(const struct archived *a)
{
    const struct kernel_places places = {a ? a->kernel : NULL, archived_directory(a)};
    return running_kernel_open(a ? &places : &kernel_places_here);
}
