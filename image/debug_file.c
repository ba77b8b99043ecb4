/* debug_file.c - see debug_file.h. */
#include "image/debug_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/file.h"
#include "image/build_id_cache.h"
#include "image/debuginfod.h"
#include "image/image_find.h"
#include "image/image_store.h"
#include "image/twins.h"

#define DEFAULT_DIRECTORY "/usr/lib/debug"

struct wanted {
    const struct elf_file *file;
    const struct image_options *options;
    bool by_crc;
    uint32_t crc;
};

static bool has_crc(const char *path, uint32_t crc)
{
    struct file_view view;
    if (file_view_read(path, &view, NULL) < 0)
        return false;
    bool has = crc32_z(0, view.data, view.size) == crc;
    file_view_close(&view);
    return has;
}

/* Opens a candidate and checks that it is the right one. If so, takes ownership of the path. */
static int try_path(const struct wanted *wanted, char *candidate, char **path, struct elf_file *out)
{
    struct elf_file found;
    const struct log *log = wanted->options ? wanted->options->log : NULL;
    if (access(candidate, F_OK) != 0)
        return 0;
    struct fathom_error err = {0};
    int rc = elf_file_open(&found, candidate, ELF_CODE, &err);
    if (rc < 0) {
        log_write(log, LOG_WARNING, "ignoring a debug file: %s", err.text);
        return rc == -ENOMEM ? rc : 0;
    }
    const struct build_id *id = &wanted->file->build_id;
    bool same = id->size && found.build_id.size ? build_id_equal(id, &found.build_id)
                                                : wanted->by_crc && has_crc(candidate, wanted->crc);
    if (!same) {
        log_write(log, LOG_WARNING, "ignoring debug file %s: it is from another build", candidate);
        elf_file_close(&found);
        return 0;
    }
    *path = candidate;
    *out = found;
    return 1;
}

/* tried: a formatted path or, for lack of memory, -1 of asprintf. */
static int try_formatted(const struct wanted *wanted, int tried, char *candidate, char **path,
                         struct elf_file *out)
{
    if (tried < 0)
        return -ENOMEM;
    int rc = try_path(wanted, candidate, path, out);
    if (rc <= 0)
        free(candidate);
    return rc;
}

static int by_build_id(const struct wanted *wanted, const char *root, char **path, struct elf_file *out)
{
    char id[2 * BUILD_ID_MAX + 1], *candidate;
    if (wanted->file->build_id.size < 2)
        return 0;
    build_id_format(&wanted->file->build_id, id);
    int n = asprintf(&candidate, "%s/.build-id/%.2s/%s.debug", root, id, id + 2);
    return try_formatted(wanted, n, candidate, path, out);
}

/* Tries a debug file in a directory with the layout of perf's cache. */
static int by_cache(const struct wanted *wanted, const char *directory, char **path, struct elf_file *out)
{
    char *candidate = build_id_cache_find(directory, &wanted->file->build_id, "debug");
    return candidate ? try_formatted(wanted, 0, candidate, path, out) : 0;
}

static int by_link(struct wanted *wanted, const char *file_path, const char *root, char **path,
                   struct elf_file *out)
{
    size_t size;
    const struct elf_section *section = elf_file_section(wanted->file, ".gnu_debuglink");
    const uint8_t *data = elf_section_bytes(wanted->file, section, &size);
    if (!data)
        return 0;
    struct bytes b = bytes_of(data, size);
    const char *name = bytes_string(&b);
    if (!name || !*name || strchr(name, '/'))
        return 0;
    bytes_take(&b, -(uint64_t)(strlen(name) + 1) & 3);
    wanted->crc = bytes_u32(&b);
    wanted->by_crc = true;
    char *real = b.failed ? NULL : realpath(file_path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (!slash) {
        free(real);
        return 0;
    }
    *slash = 0;
    char *candidate;
    int n = asprintf(&candidate, "%s/.debug/%s", real, name);
    int rc = try_formatted(wanted, n, candidate, path, out);
    if (rc == 0 && strcmp(slash + 1, name) != 0) {
        n = asprintf(&candidate, "%s/%s", real, name);
        rc = try_formatted(wanted, n, candidate, path, out);
    }
    if (rc == 0) {
        n = asprintf(&candidate, "%s%s/%s", root, real, name);
        rc = try_formatted(wanted, n, candidate, path, out);
    }
    free(real);
    return rc;
}

/* Tries an unstripped copy of the whole program (malloc'd or NULL). */
static int by_copy(const struct wanted *wanted, char *copy, char **path, struct elf_file *out)
{
    if (copy && elf_file_names_more(copy, wanted->file))
        return try_formatted(wanted, 0, copy, path, out);
    free(copy);
    return 0;
}

/* Tries the other files known to have had this build. */
static int by_twins(const struct wanted *wanted, char **path, struct elf_file *out)
{
    const char *paths[TWINS_MOST];
    const struct image_options *options = wanted->options;
    const struct build_id *id = &wanted->file->build_id;
    size_t count = options && options->twins ? twins_find(options->twins, id, paths) : 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        char *file;
        if (image_find_at(paths[i], id, options->symfs, &file, NULL) == 0)
            rc = by_copy(wanted, file, path, out);
    }
    return rc == 0 && id->size ? by_copy(wanted, image_store_path(id), path, out) : rc;
}

/* The directory of separate debug files; malloc'd. NULL: out of memory. */
static char *root_of(const struct image_options *options)
{
    char *root;
    if (options && options->debug_directory)
        return strdup(options->debug_directory);
    return asprintf(&root, "%s%s", options && options->symfs ? options->symfs : "", DEFAULT_DIRECTORY) < 0
               ? NULL
               : root;
}

int debug_file_find(const struct elf_file *file, const char *file_path, const struct image_options *options,
                    char **path, struct elf_file *out)
{
    if (options && options->no_debug_files)
        return 0;
    char *root = root_of(options);
    if (!root)
        return -ENOMEM;
    struct wanted wanted = {.file = file, .options = options};
    int rc = by_cache(&wanted, options ? options->archived : NULL, path, out);
    if (rc == 0)
        rc = by_build_id(&wanted, root, path, out);
    if (rc == 0)
        rc = by_link(&wanted, file_path, root, path, out);
    char *cache = rc == 0 ? build_id_cache_directory() : NULL;
    if (cache)
        rc = by_cache(&wanted, cache, path, out);
    if (rc == 0)
        rc = by_twins(&wanted, path, out);
    if (rc == 0 && cache)
        rc = by_copy(&wanted, build_id_cache_find(cache, &file->build_id, "elf"), path, out);
    free(cache);
    free(root);
    return rc;
}

/* A debuginfod server's file for this build; malloc'd; NULL: none. */
static char *server_file(const struct image_options *options, const struct build_id *id)
{
    return options && !options->no_debug_files
               ? debuginfod_find(options->debuginfod, DEBUGINFOD_DEBUG_FILE, id)
               : NULL;
}

int debug_file_fetch(const struct elf_file *file, const struct image_options *options, char **path,
                     struct elf_file *out)
{
    char *candidate = server_file(options, &file->build_id);
    struct wanted wanted = {.file = file, .options = options};
    return candidate ? try_formatted(&wanted, 0, candidate, path, out) : 0;
}

/* Takes ownership of a candidate if it is a file of this build. */
static bool take_build(char *candidate, const struct build_id *id, char **path)
{
    struct build_id found;
    if (candidate && build_id_read(candidate, &found, NULL) == 0 && build_id_equal(id, &found)) {
        *path = candidate;
        return true;
    }
    free(candidate);
    return false;
}

int debug_file_shared(const struct elf_file *file, const char *file_path, const struct image_options *options,
                      char **path)
{
    size_t size;
    const uint8_t *data = elf_section_bytes(file, elf_file_section(file, ".gnu_debugaltlink"), &size);
    struct bytes b = bytes_of(data ? data : (const uint8_t *)"", data ? size : 0);
    const char *name = bytes_string(&b);
    struct build_id id = {0};
    if (!name || !*name || bytes_left(&b) < 2 || bytes_left(&b) > BUILD_ID_MAX)
        return 0;
    id.size = (uint8_t)bytes_left(&b);
    memcpy(id.bytes, b.at, id.size);
    char hex[2 * BUILD_ID_MAX + 1], *candidate = NULL;
    build_id_format(&id, hex);
    if (take_build(build_id_cache_find(options ? options->archived : NULL, &id, "debug"), &id, path))
        return 1;
    char *real = realpath(file_path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = 0;
    int n = *name == '/' ? asprintf(&candidate, "%s", name)
                         : asprintf(&candidate, "%s/%s", slash ? real : ".", name);
    free(real);
    if (n < 0)
        return -ENOMEM;
    if (take_build(candidate, &id, path))
        return 1;
    char *root = root_of(options);
    n = root ? asprintf(&candidate, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) : -1;
    free(root);
    if (n < 0)
        return -ENOMEM;
    return take_build(candidate, &id, path) || take_build(server_file(options, &id), &id, path);
}
