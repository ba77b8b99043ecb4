/*
 * plan_cache.c - see plan_cache.h. A file, native integers:
 *
 *     struct head | plan | struct left[head.left_count] | texts, each ended by 0
 */
#include "pathmap/train/plan_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/cache.h"

#define MAGIC     "FPKT"
#define VERSION   1
#define LARGEST   (UINT64_C(256) << 20) /* most bytes of a file to read */
#define NO_TEXT   UINT32_MAX
#define DIRECTORY "plans"

struct head {
    char magic[4];
    uint32_t version;
    uint64_t checksum; /* of all that follows this field */
    uint64_t plan_size, text_size;
    uint32_t left_count;
    uint32_t kinds[PLAN_KINDS];
    uint32_t fill; /* padding after the plan up to plan_size, a multiple of 8 */
    struct build_id image, maker;
    uint8_t padding[8 - (2 * sizeof(struct build_id)) % 8];
};
_Static_assert(sizeof(struct head) % 8 == 0, "the plan is aligned");

struct left { /* struct plan_left_out */
    uint64_t function;
    uint32_t name, reason; /* in the texts; NO_TEXT: NULL */
};

struct plan_cache {
    char *directory; /* NULL: no cache */
    struct build_id maker;
};

struct plan_cache *plan_cache_open(void)
{
    struct plan_cache *cache = calloc(1, sizeof *cache);
    if (cache && build_id_read("/proc/self/exe", &cache->maker, NULL) == 0 && cache->maker.size)
        cache->directory = cache_directory(DIRECTORY, true);
    return cache;
}

void plan_cache_close(struct plan_cache *cache)
{
    if (!cache)
        return;
    free(cache->directory);
    free(cache);
}

/* The file's path; malloc'd. NULL: not to be cached. */
static char *place_of(const struct plan_cache *cache, const char *image, const struct plan_options *options,
                      struct build_id *id)
{
    struct stat st;
    char hex[2 * BUILD_ID_MAX + 1], *path;
    if (!cache->directory || options->skip || stat(image, &st) != 0 || build_id_read(image, id, NULL) < 0 ||
        !id->size)
        return NULL;
    const uint64_t facts[] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec,
                              checksum_of(cache->maker.bytes, cache->maker.size),
                              (uint64_t)options->breakpoints_only | (uint64_t)options->sleds_only << 1 |
                                  (uint64_t)options->calls_only << 2};
    build_id_format(id, hex);
    return asprintf(&path, "%s/%s-%016llx", cache->directory, hex,
                    (unsigned long long)checksum_of(facts, sizeof facts)) < 0
               ? NULL
               : path;
}

/* Reading ------------------------------------------------------------------------------------------------ */

static bool is_sound(const struct plan_cache *cache, const struct build_id *id, const uint8_t *data,
                     size_t size)
{
    struct head h;
    struct plan plan;
    size_t checked = offsetof(struct head, plan_size);
    if (size < sizeof h)
        return false;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, MAGIC, sizeof h.magic) != 0 || h.version != VERSION ||
        !build_id_equal(&h.image, id) || !build_id_equal(&h.maker, &cache->maker) || h.plan_size > LARGEST ||
        h.text_size > LARGEST || h.left_count > LARGEST / sizeof(struct left) || h.plan_size % 8 ||
        sizeof h + h.plan_size + h.left_count * sizeof(struct left) + h.text_size != size ||
        (h.text_size && data[size - 1] != 0) || checksum_of(data + checked, size - checked) != h.checksum)
        return false;
    return h.fill < 8 && h.fill <= h.plan_size &&
           plan_read(data + sizeof h, h.plan_size - h.fill, &plan, NULL) == 0;
}

static const char *text_at(const char *texts, uint64_t size, uint32_t at)
{
    return at < size ? texts + at : NULL;
}

/* false: out of memory. */
static bool take_plan(const uint8_t *data, struct plan_made *out)
{
    struct head h;
    memcpy(&h, data, sizeof h);
    const uint8_t *lefts = data + sizeof h + h.plan_size, *texts = lefts + h.left_count * sizeof(struct left);
    struct plan_summary s = {.left_out_count = h.left_count,
                             .left_out = calloc(h.left_count + 1, sizeof *s.left_out),
                             .texts = malloc(h.text_size + 1)};
    void *copy = malloc(h.plan_size);
    if (!s.left_out || !s.texts || !copy) {
        plan_summary_free(&s);
        free(copy);
        return false;
    }
    memcpy(copy, data + sizeof h, h.plan_size);
    memcpy(s.texts, texts, h.text_size);
    memcpy(s.kinds, h.kinds, sizeof s.kinds);
    for (uint32_t i = 0; i < h.left_count; i++) {
        struct left left;
        memcpy(&left, lefts + i * sizeof left, sizeof left);
        const char *reason = text_at(s.texts, h.text_size, left.reason);
        s.left_out[i] = (struct plan_left_out){left.function, text_at(s.texts, h.text_size, left.name),
                                               reason ? reason : "the reason was not cached"};
    }
    *out = (struct plan_made){copy, h.plan_size - h.fill, s};
    return true;
}

/* Reads the whole file (cache_open(): another user's plan could hook any code); not mapped, since a writer may
 * truncate it. NULL: unreadable. */
static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat st;
    int fd = cache_open(path);
    uint8_t *data = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size <= LARGEST)
        data = malloc((size_t)st.st_size + 1);
    ssize_t n = 1;
    *size = 0;
    while (data && n > 0 && *size < (size_t)st.st_size) {
        n = read(fd, data + *size, (size_t)st.st_size - *size);
        if (n > 0)
            *size += (size_t)n;
    }
    close(fd);
    return data;
}

/* Whether a cached plan was found and used. */
static bool find_plan(const struct plan_cache *cache, const char *path, const struct build_id *id,
                      struct plan_made *out)
{
    size_t held;
    uint8_t *file = read_file(path, &held);
    bool found = file && is_sound(cache, id, file, held) && take_plan(file, out);
    free(file);
    if (found)
        cache_use(path);
    return found;
}

/* Writing ------------------------------------------------------------------------------------------------ */

static uint32_t add_text(char *texts, uint64_t *end, const char *text)
{
    uint32_t at = (uint32_t)*end;
    if (!text)
        return NO_TEXT;
    memcpy(texts + *end, text, strlen(text) + 1);
    *end += strlen(text) + 1;
    return at;
}

/* Builds the whole file, malloc'd; NULL: too large, or out of memory. */
static uint8_t *compose_file(const struct plan_cache *cache, const struct build_id *id,
                             const struct plan_made *plan, size_t *total)
{
    const struct plan_summary *summary = &plan->summary;
    struct head h = {.magic = MAGIC, .version = VERSION, .left_count = summary->left_out_count};
    h.plan_size = (plan->size + 7) & ~UINT64_C(7);
    h.fill = (uint32_t)(h.plan_size - plan->size);
    h.image = *id;
    h.maker = cache->maker;
    memcpy(h.kinds, summary->kinds, sizeof h.kinds);
    for (uint32_t i = 0; i < h.left_count; i++) {
        const struct plan_left_out *l = &summary->left_out[i];
        h.text_size += (l->name ? strlen(l->name) + 1 : 0) + strlen(l->reason) + 1;
    }
    *total = sizeof h + h.plan_size + h.left_count * sizeof(struct left) + h.text_size;
    uint8_t *out = *total <= LARGEST ? calloc(1, *total) : NULL;
    if (!out)
        return NULL;
    memcpy(out + sizeof h, plan->data, plan->size);
    uint8_t *lefts = out + sizeof h + h.plan_size;
    char *texts = (char *)lefts + h.left_count * sizeof(struct left);
    uint64_t end = 0;
    for (uint32_t i = 0; i < h.left_count; i++) {
        const struct plan_left_out *l = &summary->left_out[i];
        struct left left = {.function = l->function};
        left.name = add_text(texts, &end, l->name);
        left.reason = add_text(texts, &end, l->reason);
        memcpy(lefts + i * sizeof left, &left, sizeof left);
    }
    size_t checked = offsetof(struct head, plan_size);
    memcpy(out, &h, sizeof h);
    h.checksum = checksum_of(out + checked, *total - checked);
    memcpy(out, &h, sizeof h);
    return out;
}

/* A plan that cannot be cached is built again next time. */
static void keep_plan(const struct plan_cache *cache, const char *path, const struct build_id *id,
                      const struct plan_made *plan)
{
    size_t total;
    struct cache_file file;
    uint8_t *data = compose_file(cache, id, plan, &total);
    if (data && cache_begin(cache->directory, total, PLAN_CACHE_BYTES, &file, NULL) == 0)
        cache_end(&file, path, file_write_all(file.fd, data, total, path, NULL), NULL);
    free(data);
}

int plan_cache_get(struct plan_cache *cache, struct image_cache *images, const char *path,
                   const struct plan_options *options, struct plan_made *out, struct fathom_error *err)
{
    struct image *image;
    struct plan_made made;
    struct build_id id = {0};
    char *place = place_of(cache, path, options, &id);
    if (place && find_plan(cache, place, &id, out)) {
        free(place);
        return 0;
    }
    int rc = image_cache_get(images, path, NULL, &image, err);
    if (rc == 0)
        rc = plan_build(image, options, &made.data, &made.size, &made.summary, err);
    if (rc == 0 && place && build_id_equal(image_build_id(image), &id))
        keep_plan(cache, place, &id, &made);
    if (rc == 0)
        *out = made;
    free(place);
    return rc;
}
