/* cache.c - puts a recording's binaries into perf's cache; see archiving.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/archive/archiving.h"
#include "image/build_id_cache.h"
#include "image/image_file.h"

struct filling {
    const struct archiving *from;
    char *cache;       /* directory */
    size_t added, had; /* files */
};

static int cache_file(struct filling *f, const struct build_id_cache_file *file, struct fathom_error *err)
{
    struct fathom_error why = {0};
    int rc = build_id_cache_add(f->cache, file, &why);
    f->added += rc == 1;
    f->had += rc == 0;
    if (rc == -EINVAL) {
        log_write(&f->from->host.log, LOG_WARNING, "%s", why.text);
        return 0;
    }
    if (rc < 0 && err)
        *err = why;
    return rc < 0 ? rc : 0;
}

static int cache_image(void *filling, const struct archive_image *image, struct fathom_error *err)
{
    struct filling *f = filling;
    uint8_t *data = NULL;
    struct build_id_cache_file file = {.path = image->path,
                                       .id = image_build_id(image->image),
                                       .kind = strcmp(image->path, VDSO_NAME) == 0 ? "vdso" : "elf",
                                       .source = image->files->image};
    int rc = 0;
    if (!file.source && (rc = image_read_file(image->image, &data, &file.size, err)) < 0)
        return rc;
    file.data = data;
    rc = cache_file(f, &file, err);
    free(data);
    if (rc == 0 && image->files->debug && !f->from->options->no_debug && file.id->size >= 2) {
        file.kind = "debug";
        file.source = image->files->debug;
        rc = cache_file(f, &file, err);
    }
    return rc;
}

/* The cache has only one of the kernel's files. */
static int cache_kernel(void *filling, const struct archive_kernel_file *file, struct fathom_error *err)
{
    struct filling *f = filling;
    const struct build_id *id = &archive_contents_kernel(f->from->contents)->id;
    if (strcmp(file->name, "kallsyms") != 0)
        return 0;
    return cache_file(f,
                      &(struct build_id_cache_file){"[kernel.kallsyms]", id, file->name, .data = file->text,
                                                    .size = file->size},
                      err);
}

int archive_cache(const struct archiving *a, struct fathom_error *err)
{
    struct filling f = {.from = a, .cache = build_id_cache_directory()};
    int rc = f.cache ? archive_contents_images(a->contents, cache_image, &f, err)
                     : error_set(err, ENOENT,
                                 "there is no directory for the cache: set HOME, or PERF_BUILDID_DIR");
    if (rc == 0 && !a->archived)
        rc = archive_kernel(a, cache_kernel, &f, err);
    if (rc == 0)
        log_write(&a->host.log, LOG_NOTE, "%s: %zu files added, %zu were there", f.cache, f.added, f.had);
    free(f.cache);
    return rc;
}
