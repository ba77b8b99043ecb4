/* debug_file.c - see debug_file.h. */
#include "image/debug_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"

#define DEFAULT_DIRECTORY "/usr/lib/debug"

struct wanted {
    const struct elf_file *file;
    const struct image_options *options;
    bool by_crc;
    uint32_t crc;
};

/* Opens a candidate and checks that it is the one. Takes the path over when it is. */
static int try_path(const struct wanted *wanted, char *candidate, char **path, struct elf_file *out)
{
    struct elf_file found;
    const struct log *log = wanted->options ? wanted->options->log : NULL;
    if (access(candidate, F_OK) != 0)
        return 0;
    struct fathom_error err = {0};
    int rc = elf_file_open(&found, candidate, &err);
    if (rc < 0) {
        log_write(log, LOG_WARNING, "debug file left out: %s", err.text);
        return rc == -ENOMEM ? rc : 0;
    }
    const struct build_id *id = &wanted->file->build_id;
    bool same = id->size && found.build_id.size
                    ? build_id_equal(id, &found.build_id)
                    : wanted->by_crc && crc32_z(0, found.data, found.size) == wanted->crc;
    if (!same) {
        log_write(log, LOG_WARNING, "debug file left out: %s is of another build", candidate);
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

int debug_file_find(const struct elf_file *file, const char *file_path, const struct image_options *options,
                    char **path, struct elf_file *out)
{
    if (options && options->no_debug_files)
        return 0;
    const char *root = options && options->debug_directory ? options->debug_directory : DEFAULT_DIRECTORY;
    struct wanted wanted = {.file = file, .options = options};
    int rc = by_build_id(&wanted, root, path, out);
    return rc ? rc : by_link(&wanted, file_path, root, path, out);
}
