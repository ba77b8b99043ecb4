/* pack.c - lists the members of an archive, and writes it; see archiving.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/archive/archiving.h"
#include "api/cached_maps.h"
#include "archive/pack.h"
#include "base/file.h"
#include "base/output.h"
#include "base/plain_path.h"
#include "image/build_id_cache.h"
#include "image/image_file.h"
#include "report/annotate/sources.h"

struct packing {
    const struct archiving *from;
    struct pack *pack;
};

/* Adds a member and takes ownership of its name; NULL: out of memory. */
static int add_member(struct packing *p, char *name, const struct pack_source *source, const char *from,
                      struct fathom_error *err)
{
    int rc = name ? pack_add(p->pack, name, source, from, err) : error_memory(err);
    free(name);
    return rc;
}

static char *join_texts(const char *first, const char *second, const char *third)
{
    char *text;
    return asprintf(&text, "%s%s%s", first, second, third) < 0 ? NULL : text;
}

/* Adds a file under its recorded path, which is untrusted. */
static int add_by_path(struct packing *p, const char *path, const char *file, struct fathom_error *err)
{
    char *plain = plain_path_below_root(path);
    int rc = 0;
    if (plain && (path[0] != '/' || !plain_path(plain)))
        log_write(&p->from->host.log, LOG_WARNING, "%s will be missing: it is not the path of a file", path);
    else
        rc = add_member(p, plain ? join_texts(MANIFEST_ROOT, "/", plain) : NULL,
                        &(struct pack_source){.path = file}, path, err);
    free(plain);
    return rc;
}

/* Adds a debug file under the image's build-id, or for an image without one, where .gnu_debuglink finds it. */
static int add_debug(struct packing *p, const struct archive_image *image, struct fathom_error *err)
{
    const struct build_id *id = image_build_id(image->image);
    const struct pack_source source = {.path = image->files->debug};
    const char *slash = strrchr(image->path, '/'), *name = strrchr(source.path, '/');
    if (id->size >= 2)
        return add_member(p, build_id_cache_name(id, "debug"), &source, source.path, err);
    if (!slash || !name)
        return 0;
    char *path = NULL;
    if (asprintf(&path, "%.*s/.debug%s", (int)(slash - image->path), image->path, name) < 0)
        return error_memory(err);
    int rc = add_by_path(p, path, source.path, err);
    free(path);
    return rc;
}

static int add_shared(struct packing *p, const char *path, struct fathom_error *err)
{
    struct build_id id;
    if (build_id_read(path, &id, NULL) < 0 || id.size < 2)
        return 0;
    return add_member(p, build_id_cache_name(&id, "debug"), &(struct pack_source){.path = path}, path, err);
}

/* Adds the package of split debug information next to the program, if there is one. */
static int add_package(struct packing *p, const struct archive_image *image, struct fathom_error *err)
{
    char *path = join_texts(image->path, ".dwp", ""), *name = NULL;
    struct stat st;
    int rc = path ? 0 : error_memory(err);
    if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0) {
        if (image->recorded->size < 2)
            rc = add_by_path(p, path, path, err);
        else if (!(name = build_id_cache_name(image->recorded, "elf.dwp")))
            rc = error_memory(err);
        else
            rc = add_member(p, name, &(struct pack_source){.path = path}, path, err);
    }
    free(path);
    return rc;
}

static int add_vdso(struct packing *p, const struct archive_image *image, const struct pack_source *source,
                    struct fathom_error *err)
{
    char *name = image->recorded->size ? build_id_cache_name(image->recorded, "vdso") : strdup("vdso");
    return add_member(p, name, source, VDSO_NAME, err);
}

static int pack_image(void *packing, const struct archive_image *image, struct fathom_error *err)
{
    struct packing *p = packing;
    const struct image_files *files = image->files;
    struct pack_source source = {.path = files->image};
    uint8_t *data = NULL;
    int rc = 0;
    if (!source.path && (rc = image_read_file(image->image, &data, &source.size, err)) < 0)
        return rc;
    source.data = data;
    if (strcmp(image->path, VDSO_NAME) == 0)
        rc = add_vdso(p, image, &source, err);
    else if (image->recorded->size >= 2)
        rc = add_member(p, build_id_cache_name(image->recorded, "elf"), &source, image->path, err);
    else
        rc = add_by_path(p, image->path, source.path, err);
    free(data);
    if (rc == 0 && files->debug && !p->from->options->no_debug)
        rc = add_debug(p, image, err);
    if (rc == 0 && image->path[0] == '/' && !p->from->options->no_debug)
        rc = add_package(p, image, err);
    if (rc == 0 && files->shared && !p->from->options->no_debug)
        rc = add_shared(p, files->shared, err);
    return rc;
}

/* Adds a cached map of other recordings; its name is unique. */
static int add_kept(void *packing, const char *path, struct fathom_error *err)
{
    struct file_view view = {0};
    int rc = file_view_read(path, &view, err);
    if (rc == -ENOENT) /* a recording that has just ended replaced it */
        return 0;
    if (rc == 0)
        rc = add_member(packing, join_texts(MANIFEST_KEPT, strrchr(path, '/'), ""),
                        &(struct pack_source){.data = view.data, .size = view.size}, path, err);
    file_view_close(&view);
    return rc;
}

static int add_source(void *packing, const char *file, struct fathom_error *err)
{
    struct stat st;
    if (stat(file, &st) < 0 || !sources_may_show(&st) || access(file, R_OK) < 0)
        return 0;
    return add_by_path(packing, file, file, err);
}

/* Adds the recording: a file, or a directory of files. */
static int add_recording(struct packing *p, struct fathom_error *err)
{
    const char *input = p->from->options->recording;
    DIR *directory = opendir(input);
    int rc = 0;
    if (!directory)
        return add_member(p, strdup(MANIFEST_RECORDING), &(struct pack_source){.path = input}, input, err);
    for (struct dirent *d; rc == 0 && (d = readdir(directory));) {
        char *path = join_texts(input, "/", d->d_name);
        struct stat st;
        if (!path)
            rc = error_memory(err);
        else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            rc = add_member(p, join_texts(MANIFEST_RECORDING, "/", d->d_name),
                            &(struct pack_source){.path = path}, path, err);
        free(path);
    }
    closedir(directory);
    return rc;
}

static int add_map(struct packing *p, struct fathom_error *err)
{
    const char *map = p->from->options->map;
    struct pathmap *opened;
    int rc = pathmap_open(map, &opened, err);
    if (rc < 0)
        return rc;
    pathmap_close(opened);
    rc = add_member(p, strdup(MANIFEST_MAP), &(struct pack_source){.path = map}, map, err);
    return rc < 0 ? rc : pack_map(p->pack, map, err);
}

static int add_kernel(void *packing, const struct archive_kernel_file *file, struct fathom_error *err)
{
    return add_member(packing, join_texts(MANIFEST_KERNEL, "/", file->name),
                      &(struct pack_source){.data = file->text, .size = file->size}, file->path, err);
}

static int pack_all(struct packing *p, struct fathom_error *err)
{
    const struct fathom_archive_options *o = p->from->options;
    int rc = add_recording(p, err);
    if (rc == 0 && o->map)
        rc = add_map(p, err);
    if (rc == 0 && !o->map && cached_maps_wanted(o->no_cache))
        rc = cached_maps_files(p->from->reader, add_kept, p, err);
    if (rc == 0)
        rc = archive_kernel(p->from, add_kernel, p, err);
    if (rc == 0)
        rc = archive_contents_images(p->from->contents, pack_image, p, err);
    if (rc == 0 && o->sources)
        rc = archive_contents_sources(p->from->contents, add_source, p, err);
    return rc;
}

static int write_archive(struct packing *p, struct outfile *output, struct fathom_error *err)
{
    uint64_t bytes;
    int fd, rc = outfile_begin(output, &fd, err);
    if (rc == 0)
        rc = pack_write(p->pack, fd, outfile_path(output), err);
    if (rc == 0 && !outfile_is_stream(output) && fsync(fd) < 0)
        rc = error_system(err, errno, "cannot write %s", outfile_path(output));
    struct stat st;
    if (rc == 0 && fstat(fd, &st) < 0)
        rc = error_system(err, errno, "cannot write %s", outfile_path(output));
    if (rc == 0)
        rc = outfile_publish(output, false, err);
    if (rc < 0)
        return rc;
    size_t count = pack_count(p->pack, &bytes);
    if (!outfile_is_stream(output))
        log_write(&p->from->host.log, LOG_NOTE, "%s: %zu files of %.1f MB in %.1f MB", outfile_path(output),
                  count, (double)bytes / 1e6, (double)st.st_size / 1e6);
    return 0;
}

/* RECORDING.tar.zst */
static char *name_output(const char *recording)
{
    char *name;
    size_t length = strlen(recording);
    while (length > 1 && recording[length - 1] == '/')
        length--;
    return asprintf(&name, "%.*s.tar.zst", (int)length, recording) < 0 ? NULL : name;
}

int archive_pack(const struct archiving *a, struct fathom_error *err)
{
    const struct fathom_archive_options *o = a->options;
    struct packing p = {a, pack_new()};
    struct outfile *output = NULL;
    char *name = o->output ? strdup(o->output) : name_output(o->recording);
    int rc = p.pack && name ? outfile_open(name, &output, err) : error_memory(err);
    if (rc == 0)
        rc = output_spares(output, o->recording, o->map, err);
    if (rc == 0)
        rc = pack_all(&p, err);
    if (rc == 0)
        rc = write_archive(&p, output, err);
    outfile_close(output);
    pack_free(p.pack);
    free(name);
    return rc;
}
