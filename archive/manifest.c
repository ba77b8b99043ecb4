/* manifest.c - see manifest.h. */
#include "archive/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/plain_path.h"
#include "base/vec.h"

#define VERSION_LINE "fathom-archive 1"

static int damaged_manifest(struct fathom_error *err, const char *what)
{
    return error_set(err, EBADMSG, "the archive is damaged: its list of files %s", what);
}

void manifest_free(struct manifest *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->files[i].name);
        free(m->files[i].from);
    }
    free(m->files);
    free(m->map);
    table_free(m->by_name);
    *m = (struct manifest){0};
}

static uint64_t key_of(const char *name)
{
    return checksum_of(name, strlen(name));
}

const struct manifest_file *manifest_find(const struct manifest *m, const char *name)
{
    const uint64_t *number = m->by_name ? table_find(m->by_name, key_of(name)) : NULL;
    return number && strcmp(m->files[*number - 1].name, name) == 0 ? &m->files[*number - 1] : NULL;
}

int manifest_add(struct manifest *m, const struct manifest_file *file, struct fathom_error *err)
{
    bool added = false;
    if (m->count >= MANIFEST_FILES_MOST)
        return error_set(err, E2BIG, "the archive has more than %d files", MANIFEST_FILES_MOST);
    if (!m->by_name && !(m->by_name = table_new()))
        return error_memory(err);
    struct manifest_file copy = {strdup(file->name), file->size, file->sum, strdup(file->from)};
    if (!copy.name || !copy.from || !vec_reserve(m->files, m->count, m->capacity, 1)) {
        free(copy.name);
        free(copy.from);
        return error_memory(err);
    }
    uint64_t *number = table_put(m->by_name, key_of(file->name), &added);
    if (!number || !added) {
        free(copy.name);
        free(copy.from);
        return number ? error_set(err, EEXIST, "the archive has two files named %s", file->name)
                      : error_memory(err);
    }
    m->files[m->count++] = copy;
    *number = m->count;
    return 0;
}

/* Reading -------------------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes a name in place. false: not one, or it has a NUL. */
static bool decode_name(char *name)
{
    char *to = name;
    for (const char *at = name; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        int high = digit_of(at[1]), low = high < 0 ? -1 : digit_of(at[2]);
        if (low < 0 || high + low == 0)
            return false;
        *to++ = (char)(high << 4 | low);
        at += 2;
    }
    *to = 0;
    return to > name;
}

/* The next word of a line; NULL: none. */
static char *next_word(char **line)
{
    char *word = strsep(line, " ");
    return word && *word ? word : NULL;
}

static bool read_number(const char *word, int base, uint64_t *out)
{
    char *end;
    if (!word || digit_of(*word) < 0)
        return false;
    errno = 0;
    *out = strtoull(word, &end, base);
    return !*end && errno == 0;
}

static int read_file(struct manifest *m, char *rest, struct fathom_error *err)
{
    struct manifest_file file = {.name = next_word(&rest)};
    bool good = read_number(next_word(&rest), 10, &file.size) && read_number(next_word(&rest), 16, &file.sum);
    file.from = next_word(&rest);
    if (!good || !file.name || !file.from || rest || !decode_name(file.name) || !decode_name(file.from))
        return damaged_manifest(err, "has a line that cannot be read");
    if (!plain_path(file.name) || strcmp(file.name, MANIFEST_NAME) == 0)
        return damaged_manifest(err, "has a name that leads out of it");
    int rc = manifest_add(m, &file, err);
    if (rc == -E2BIG)
        return damaged_manifest(err, "is too long");
    return rc == -EEXIST ? damaged_manifest(err, "has a name twice") : rc;
}

static int read_line(struct manifest *m, char *line, struct fathom_error *err)
{
    char *rest = line;
    const char *word = next_word(&rest);
    if (!word || word[0] == '#')
        return 0;
    if (strcmp(word, "file") == 0)
        return read_file(m, rest, err);
    if (strcmp(word, "map") != 0 || m->map || !rest || strchr(rest, ' ') || !decode_name(rest))
        return damaged_manifest(err, "has a line that cannot be read");
    m->map = strdup(rest);
    return m->map ? 0 : error_memory(err);
}

static int read_lines(struct manifest *m, char *text, struct fathom_error *err)
{
    char *rest = text;
    const char *first = strsep(&rest, "\n");
    if (strncmp(first, VERSION_LINE, sizeof VERSION_LINE - 2) != 0)
        return error_set(err, ENOMSG, "it is not an archive of fathom archive");
    if (strcmp(first, VERSION_LINE) != 0)
        return error_set(err, ENOTSUP, "the archive is of a later version of Fathom");
    if (!rest)
        return damaged_manifest(err, "is cut");
    int rc = 0;
    while (rc == 0 && rest && *rest) {
        char *line = strsep(&rest, "\n");
        rc = rest ? read_line(m, line, err) : damaged_manifest(err, "is cut");
    }
    return rc;
}

int manifest_parse(const char *text, size_t size, struct manifest *out, struct fathom_error *err)
{
    if (size > MANIFEST_MOST || memchr(text, 0, size))
        return damaged_manifest(err, "is no text");
    struct manifest m = {0};
    char *copy = strndup(text, size);
    int rc = copy ? read_lines(&m, copy, err) : error_memory(err);
    free(copy);
    if (rc < 0)
        manifest_free(&m);
    else
        *out = m;
    return rc;
}

/* Writing -------------------------------------------------------------------------------------------------------- */

static void write_name(FILE *out, const char *name)
{
    for (const char *at = name; *at; at++)
        if (*at > ' ' && *at <= '~' && *at != '%')
            putc(*at, out);
        else
            fprintf(out, "%%%02x", (unsigned char)*at);
}

static void write_file(FILE *out, const struct manifest_file *file)
{
    fputs("file ", out);
    write_name(out, file->name);
    fprintf(out, " %" PRIu64 " %016" PRIx64 " ", file->size, file->sum);
    write_name(out, file->from);
    putc('\n', out);
}

char *manifest_format(const struct manifest *m, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    fputs(VERSION_LINE "\n# A recording with what a report needs: fathom report -i ARCHIVE; for perf: tar "
                       "-xf ARCHIVE -C ~/.debug .build-id\n",
          out);
    if (m->map) {
        fputs("map ", out);
        write_name(out, m->map);
        putc('\n', out);
    }
    for (size_t i = 0; i < m->count; i++)
        write_file(out, &m->files[i]);
    bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
