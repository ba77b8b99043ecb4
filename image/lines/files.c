/* files.c - see files.h. */
#include "image/lines/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "image/debug_file.h"
#include "image/image_private.h"
#include "image/lines/sections.h"

const char *image_lines_path(const struct image *image, const struct image_options *options, char **found)
{
    *found = NULL;
    if (elf_file_has_debug_info(&image->file))
        return image->file_path ? image->file_path : image->path;
    if (image->debug_path)
        return elf_file_has_debug_info(&image->debug) ? image->debug_path : NULL;
    struct elf_file file = {0};
    if (debug_file_find(&image->file, image->path, options, found, &file) != 1 &&
        debug_file_fetch(&image->file, options, found, &file) != 1)
        return NULL;
    bool has = elf_file_has_debug_info(&file);
    elf_file_close(&file);
    return has ? *found : NULL;
}

char *image_shared_path(const char *path, const struct image_options *options)
{
    struct elf_file file;
    char *shared = NULL;
    if (elf_file_open(&file, path, ELF_CODE, NULL) < 0)
        return NULL;
    if (debug_file_shared(&file, path, options, &shared) != 1)
        shared = NULL;
    elf_file_close(&file);
    return shared;
}

/* PROGRAM.dwp */
static uint64_t package_size(const char *program)
{
    char *path;
    if (asprintf(&path, "%s.dwp", program) < 0)
        return 0;
    uint64_t size = sections_size(path);
    free(path);
    return size;
}

uint64_t image_lines_size(const struct image *image, const struct image_options *options)
{
    char *found;
    const char *path = image_lines_path(image, options, &found);
    char *shared = path ? image_shared_path(path, options) : NULL;
    uint64_t size = path ? add_saturating(sections_size(path), package_size(image->path)) : 0;
    if (path && strcmp(path, image->path) != 0)
        size = add_saturating(size, package_size(path));
    if (shared)
        size = add_saturating(size, sections_size(shared));
    free(shared);
    free(found);
    return size;
}

int image_files_find(const struct image *image, const struct image_options *options, struct image_files *out)
{
    char *found;
    const char *lines = image_lines_path(image, options, &found);
    struct image_files files = {.shared = lines ? image_shared_path(lines, options) : NULL};
    const char *debug = image->debug_path ? image->debug_path : found;
    if (image->file_path)
        files.image = strdup(image->file_path);
    if (debug)
        files.debug = strdup(debug);
    free(found);
    if ((image->file_path && !files.image) || (debug && !files.debug)) {
        image_files_free(&files);
        return -ENOMEM;
    }
    *out = files;
    return 0;
}

void image_files_free(struct image_files *files)
{
    free(files->image);
    free(files->debug);
    free(files->shared);
    *files = (struct image_files){0};
}
