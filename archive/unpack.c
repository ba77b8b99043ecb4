/* unpack.c - see unpack.h; archive_read(3). */
#include "archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "archive/libarchive.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/plain_path.h"
#include "base/text.h"

#define BLOCK      (64u << 10)
#define TAR_MAGIC  257 /* offset of "ustar" in a tar file */
#define HEAD_BYTES (TAR_MAGIC + 5)
#define EARLY_MOST 1000 /* directories before the manifest: tar(1) writes them in the order on disk */

struct unpacking {
    const char *path, *directory;
    struct archive *archive;
    struct manifest *manifest;
    uint8_t *seen;      /* by file of the manifest */
    size_t directories; /* seen so far */
};

bool unpack_is_archive(const char *path)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b}, xz[] = {0xfd, '7', 'z'};
    uint8_t head[HEAD_BYTES] = {0};
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    return n > 4 && (memcmp(head, zstd, sizeof zstd) == 0 || memcmp(head, gzip, sizeof gzip) == 0 ||
                     memcmp(head, xz, sizeof xz) == 0 || memcmp(head + TAR_MAGIC, "ustar", 5) == 0);
}

static int damaged_archive(const struct unpacking *u, struct fathom_error *err)
{
    const char *why = la.archive_error_string(u->archive);
    return error_set(err, EBADMSG, "%s is a damaged archive: %s", u->path, why ? why : "its end is missing");
}

/* Names may begin with "./". */
static const char *name_of(struct archive_entry *entry)
{
    const char *name = la.archive_entry_pathname(entry);
    return name && strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

/* Reads the next member that is no directory; directories are made from the names of files. Refuses an archive
 * with more than `most` of them, as they take few bytes. read: libarchive's result. */
static int next_member(struct unpacking *u, size_t most, struct archive_entry **entry, int *read,
                       struct fathom_error *err)
{
    while ((*read = la.archive_read_next_header(u->archive, entry)) == ARCHIVE_OK &&
           la.archive_entry_filetype(*entry) == AE_IFDIR)
        if (++u->directories > most)
            return error_set(err, EBADMSG, "%s is not used: it has more directories than its files need",
                             u->path);
    return 0;
}

/* Upper bound of directories: those above each file, each counted for every file below it, and the root. */
static size_t directories_most(const struct manifest *manifest)
{
    size_t most = EARLY_MOST + 1;
    for (size_t i = 0; i < manifest->count; i++)
        for (const char *at = manifest->files[i].name; (at = strchr(at, '/')); at++)
            most++;
    return most;
}

/* The manifest must come first, so that nothing is written that it does not list. */
static int read_manifest(struct unpacking *u, struct fathom_error *err)
{
    struct archive_entry *entry;
    const char *name = NULL;
    int read, rc = next_member(u, EARLY_MOST, &entry, &read, err);
    if (rc < 0)
        return rc;
    if (read == ARCHIVE_OK)
        name = name_of(entry);
    if (read != ARCHIVE_OK && read != ARCHIVE_EOF &&
        la.archive_filter_code(u->archive, 0) != ARCHIVE_FILTER_NONE)
        return damaged_archive(u, err);
    if (!name || strcmp(name, MANIFEST_NAME) != 0 || la.archive_entry_filetype(entry) != AE_IFREG)
        return error_set(err, ENOMSG,
                         "%s is not an archive of fathom archive: it does not begin with a list of files",
                         u->path);
    int64_t size = la.archive_entry_size(entry);
    if (size < 0 || (uint64_t)size > MANIFEST_MOST)
        return error_set(err, EBADMSG, "%s is a damaged archive: its list of files is too long", u->path);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return error_memory(err);
    rc = la.archive_read_data(u->archive, text, (size_t)size) == size ? 0 : damaged_archive(u, err);
    struct fathom_error why = {0};
    if (rc == 0 && (rc = manifest_parse(text, (size_t)size, u->manifest, &why)) < 0)
        rc = rc == -ENOMEM ? error_memory(err) : error_set(err, -rc, "%s: %s", u->path, why.text);
    free(text);
    return rc;
}

/* Bounds the sum of all sizes before anything is written. */
static int check_capacity(const struct unpacking *u, struct fathom_error *err)
{
    struct statvfs fs;
    struct stat st;
    uint64_t all = 0;
    if (stat(u->path, &st) < 0)
        return error_system(err, errno, "cannot stat %s", u->path);
    const uint64_t most = UNPACK_MOST(st.st_size);
    for (size_t i = 0; i < u->manifest->count; i++) {
        uint64_t size = u->manifest->files[i].size;
        if (size > most || (all += size) > most)
            return error_set(err, EBADMSG,
                             "%s is not used: its files are more than a thousand times larger than it is",
                             u->path);
    }
    if (statvfs(u->directory, &fs) == 0 && all / fs.f_frsize >= fs.f_bavail)
        return error_set(err, ENOSPC,
                         "%s takes %" PRIu64 " MB in %s, which has less: name another directory with TMPDIR",
                         u->path, all / 1000000 + 1, u->directory);
    return 0;
}

/* Creates the file and the directories above it. */
static int create_file(const struct unpacking *u, const char *name, struct fathom_error *err)
{
    char path[2 * PLAIN_PATH_MOST];
    size_t start = strlen(u->directory) + 1;
    if (snprintf(path, sizeof path, "%s/%s", u->directory, name) >= (int)sizeof path)
        return error_set(err, ENAMETOOLONG, "the name of the directory is too long: %s", u->directory);
    for (char *at = path + start; (at = strchr(at, '/')); at++) {
        *at = 0;
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return error_system(err, errno, "cannot create %s", path);
        *at = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : error_system(err, errno, "cannot create %s", path);
}

/* Copies the data of the current member, whose size was checked. */
static int copy_data(const struct unpacking *u, const struct manifest_file *file, int fd,
                     struct checksum *sum, struct fathom_error *err)
{
    uint8_t *block = malloc(BLOCK);
    uint64_t all = 0;
    int rc = block ? 0 : error_memory(err);
    while (rc == 0) {
        la_ssize_t n = la.archive_read_data(u->archive, block, BLOCK);
        if (n < 0)
            rc = damaged_archive(u, err);
        if (n <= 0)
            break;
        all += (uint64_t)n;
        if (all > file->size)
            break;
        checksum_add(sum, block, (size_t)n);
        rc = file_write_all(fd, block, (size_t)n, file->name, err);
    }
    free(block);
    if (rc == 0 && all != file->size)
        rc = error_set(err, EBADMSG, "%s is a damaged archive: %s does not have the size that its list says",
                       u->path, file->name);
    return rc;
}

static int extract_file(const struct unpacking *u, const struct manifest_file *file, struct fathom_error *err)
{
    struct checksum *sum = checksum_begin();
    if (!sum)
        return error_memory(err);
    int fd = create_file(u, file->name, err), rc = fd < 0 ? fd : copy_data(u, file, fd, sum, err);
    uint64_t found = checksum_end(sum);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = error_system(err, errno, "cannot write %s", file->name);
    if (rc == 0 && found != file->sum)
        rc = error_set(err, EBADMSG, "%s is a damaged archive: the checksum of %s is wrong", u->path,
                       file->name);
    return rc;
}

static int take_entry(struct unpacking *u, struct archive_entry *entry, struct fathom_error *err)
{
    const char *name = name_of(entry);
    const struct manifest_file *file = name ? manifest_find(u->manifest, name) : NULL;
    if (!file || la.archive_entry_filetype(entry) != AE_IFREG || la.archive_entry_hardlink(entry))
        return error_set(err, EBADMSG, "%s is a damaged archive: its list of files does not have '%s'",
                         u->path, name ? name : "");
    uint8_t *seen = &u->seen[file - u->manifest->files];
    if (*seen)
        return error_set(err, EBADMSG, "%s is a damaged archive: it has %s twice", u->path, name);
    *seen = 1;
    return extract_file(u, file, err);
}

static int take_all(struct unpacking *u, struct fathom_error *err)
{
    struct archive_entry *entry;
    const size_t most = directories_most(u->manifest);
    int read = ARCHIVE_OK, rc;
    while ((rc = next_member(u, most, &entry, &read, err)) == 0 && read == ARCHIVE_OK &&
           (rc = take_entry(u, entry, err)) == 0)
        ;
    if (rc == 0 && read != ARCHIVE_EOF)
        rc = damaged_archive(u, err);
    for (size_t i = 0; rc == 0 && i < u->manifest->count; i++)
        if (!u->seen[i])
            rc = error_set(err, EBADMSG, "%s is a damaged archive: %s is missing", u->path,
                           u->manifest->files[i].name);
    return rc;
}

/* Enables only what libarchive does itself: a filter that would start a program is a warning there. */
static bool prepare_archive(struct archive *a)
{
    return a && la.archive_read_support_format_tar(a) == ARCHIVE_OK &&
           la.archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
           la.archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
           la.archive_read_support_filter_xz(a) == ARCHIVE_OK;
}

int unpack(const char *path, const char *directory, struct manifest *out, struct fathom_error *err)
{
    struct manifest manifest = {0};
    struct unpacking u = {.path = path, .directory = directory, .manifest = &manifest};
    int rc = libarchive_load(err);
    if (rc < 0)
        return rc;
    u.archive = la.archive_read_new();
    rc = u.archive ? 0 : error_memory(err);
    if (rc == 0 && !prepare_archive(u.archive))
        rc = error_set(err, ENOTSUP, "this libarchive reads no zstd, gzip or xz");
    if (rc == 0 && la.archive_read_open_filename(u.archive, path, BLOCK) != ARCHIVE_OK)
        rc = damaged_archive(&u, err);
    if (rc == 0)
        rc = read_manifest(&u, err);
    if (rc == 0)
        rc = check_capacity(&u, err);
    if (rc == 0 && !(u.seen = calloc(manifest.count + 1, 1)))
        rc = error_memory(err);
    if (rc == 0)
        rc = take_all(&u, err);
    la.archive_read_free(u.archive);
    free(u.seen);
    if (rc < 0)
        manifest_free(&manifest);
    else
        *out = manifest;
    return rc;
}
