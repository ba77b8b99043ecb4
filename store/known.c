/* known.c - see known.h. The file: numbers of 64 bits, the magic, a hash of the URL, when it was begun (seconds since 1970), the hashes, and
 * the checksum of all that. */
#include "store/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "base/vec.h"

#define MAGIC UINT64_C(0x314e574f4e4b5446) /* "FTKNOWN1" */
#define MOST  ((size_t)1 << 20)            /* hashes */
#define AGE_S 3600u
enum { HEAD = 3, TAIL = 1 }; /* numbers */

struct known {
    char *path;
    uint64_t server, begun;
    struct table *hashes;
    uint64_t *added; /* since it was saved */
    size_t added_count, added_capacity;
};

static bool is_good(const struct known *k, const uint64_t *numbers, size_t count)
{
    const uint64_t now = (uint64_t)time(NULL);
    return count >= HEAD + TAIL && numbers[1] == k->server && numbers[2] <= now && now - numbers[2] < AGE_S &&
           numbers[count - 1] == checksum_of(numbers, (count - 1) * sizeof *numbers);
}

/* The file of another program is not overwritten. */
static int load_file(struct known *k, struct fathom_error *err)
{
    struct file_view view;
    int rc = file_view_open(k->path, &view, err);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    const bool fits = view.size <= (HEAD + TAIL + MOST) * sizeof(uint64_t);
    rc = file_view_need(&view, 0, fits ? view.size : sizeof(uint64_t), err);
    const uint64_t *numbers = (const uint64_t *)(const void *)view.data;
    const size_t count = view.size / sizeof *numbers;
    if (rc == 0 && view.size && (!count || numbers[0] != MAGIC))
        rc = error_set(err, ENOMSG,
                       "%s has something else than what a server knows: remove it, or give another file",
                       k->path);
    if (rc == 0 && fits && view.size % sizeof *numbers == 0 && is_good(k, numbers, count)) {
        k->begun = numbers[2];
        for (size_t i = HEAD; rc == 0 && i < count - TAIL; i++)
            rc = table_put(k->hashes, numbers[i], NULL) ? 0 : error_memory(err);
    }
    file_view_close(&view);
    return rc;
}

int known_open(const char *path, const char *url, struct known **out, struct fathom_error *err)
{
    struct known *k = calloc(1, sizeof *k);
    if (!k)
        return error_memory(err);
    k->path = strdup(path);
    k->server = checksum_of(url, strlen(url));
    k->begun = (uint64_t)time(NULL);
    k->hashes = table_new();
    int rc = k->path && k->hashes ? load_file(k, err) : error_memory(err);
    struct outfile *file = NULL;
    if (rc == 0)
        rc = outfile_open(path, &file, err); /* report an unwritable file before anything is sent */
    outfile_close(file);
    if (rc < 0)
        known_free(k);
    else
        *out = k;
    return rc;
}

void known_free(struct known *k)
{
    if (!k)
        return;
    table_free(k->hashes);
    free(k->added);
    free(k->path);
    free(k);
}

bool known_has(const struct known *k, uint64_t hash)
{
    return table_find(k->hashes, hash) != NULL;
}

size_t known_count(const struct known *k)
{
    return table_count(k->hashes);
}

/* what does not fit is sent again */
void known_add(struct known *k, uint64_t hash)
{
    (void)(table_count(k->hashes) + k->added_count < MOST &&
           vec_push(k->added, k->added_count, k->added_capacity, hash));
}

int known_forget(struct known *k, struct fathom_error *err)
{
    struct table *none = table_new();
    if (!none)
        return error_memory(err);
    table_free(k->hashes);
    k->hashes = none;
    k->begun = (uint64_t)time(NULL);
    return 0;
}

static int write_numbers(const struct known *k, const uint64_t *numbers, size_t count,
                         struct fathom_error *err)
{
    struct outfile *file = NULL;
    int rc = outfile_open(k->path, &file, err);
    if (rc == 0)
        rc = outfile_put(file, numbers, count * sizeof *numbers, err);
    outfile_close(file);
    return rc;
}

int known_save(struct known *k, struct fathom_error *err)
{
    size_t count = HEAD, cursor = 0;
    uint64_t value;
    if (!k->added_count)
        return 0; /* the file is up to date */
    for (size_t i = 0; i < k->added_count; i++)
        if (!table_put(k->hashes, k->added[i], NULL))
            return error_memory(err);
    k->added_count = 0;
    uint64_t *numbers = calloc(HEAD + TAIL + table_count(k->hashes), sizeof *numbers);
    if (!numbers)
        return error_memory(err);
    numbers[0] = MAGIC;
    numbers[1] = k->server;
    numbers[2] = k->begun;
    while (table_next(k->hashes, &cursor, &numbers[count], &value))
        count++;
    numbers[count] = checksum_of(numbers, count * sizeof *numbers);
    const int rc = write_numbers(k, numbers, count + TAIL, err);
    free(numbers);
    return rc;
}
