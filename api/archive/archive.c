#include "api/fathom/archive.h"

#include <errno.h>

#include "api/archive/archiving.h"
#include "image/debuginfod.h"

static int open_all(struct archiving *a, bool archive_allowed, struct fathom_error *err)
{
    const struct fathom_archive_options *o = a->options;
    int rc = archived_check_root(o->symfs, err);
    if (rc == 0)
        rc = archived_begin(o->recording, &a->archived, err);
    if (rc == 0 && a->archived && !archive_allowed)
        rc = error_set(err, EINVAL, "%s is an archive already", o->recording);
    if (rc == 0)
        rc = archived_unpack(a->archived, err);
    if (rc == 0)
        rc = reader_open(archived_recording(a->archived, o->recording), &a->host.log, &a->reader, err);
    a->debuginfod = rc == 0 ? debuginfod_new(&a->host.log) : NULL;
    a->images = image_cache_new(&(struct image_options){.symfs = archived_root(a->archived, o->symfs),
                                                        .archived = archived_directory(a->archived),
                                                        .log = &a->host.log,
                                                        .debuginfod = a->debuginfod});
    if (rc == 0 && !a->images)
        rc = error_memory(err);
    if (rc == 0)
        rc = archive_contents_read(&(struct archive_reading){a->reader, a->images, &a->host.log, o->sources},
                                   &a->contents, err);
    return rc;
}

static int run_archive(const struct fathom_archive_options *options, const struct fathom_listener *listener,
                       bool archive_allowed, int (*use)(const struct archiving *a, struct fathom_error *err),
                       bool *other_build, struct fathom_error *err)
{
    struct archiving a = {.options = options};
    host_init(&a.host, listener);
    int rc = open_all(&a, archive_allowed, err);
    if (rc == 0)
        rc = use(&a, err);
    if (rc == 0)
        *other_build = image_cache_other_build(a.images);
    archive_contents_free(a.contents);
    image_cache_free(a.images);
    debuginfod_free(a.debuginfod);
    reader_close(a.reader);
    archived_close(a.archived);
    return rc;
}

int fathom_archive_write(const struct fathom_archive_options *options, const struct fathom_listener *listener,
                         bool *other_build, struct fathom_error *err)
{
    return run_archive(options, listener, false, archive_pack, other_build, err);
}

int fathom_archive_fill_cache(const struct fathom_archive_options *options,
                              const struct fathom_listener *listener, bool *other_build,
                              struct fathom_error *err)
{
    struct fathom_archive_options own = *options;
    own.sources = false;
    return run_archive(&own, listener, true, archive_cache, other_build, err);
}
