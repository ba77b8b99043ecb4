/* images.c - see images.h. */
#include "streams/trace/images.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "streams/trace/directory.h"

#define IMAGES_MOST 4096u

struct duplicate_file {
    char *path; /* in the trace's directory, or where it was emitted */
    struct traced_image *image;
};

struct traced_images {
    struct image_cache *cache;
    const struct log *log;
    struct traced_image **all;
    size_t count, capacity;
    struct duplicate_file *duplicates;
    size_t duplicate_count, duplicate_capacity;
};

static struct traced_image *add_image(struct traced_images *t, const char *path)
{
    struct traced_image *image = calloc(1, sizeof *image);
    if (image)
        image->path = strdup(path);
    if (image && image->path && vec_push(t->all, t->count, t->capacity, image))
        return image;
    free(image ? image->path : NULL);
    free(image);
    return NULL;
}

static struct image *open_image(struct traced_images *t, const char *path)
{
    struct image *image = NULL;
    struct fathom_error why = {0};
    if (image_cache_get(t->cache, path, NULL, &image, &why) == 0)
        return image;
    if (path[0] == '/')
        log_write(t->log, LOG_WARNING, "%s", why.text);
    return NULL;
}

/* Adds a duplicated file, if its list of places exists. 0, also if not. */
static int add_duplicate(struct traced_images *t, const char *list, struct fathom_error *err)
{
    struct site_list sites;
    size_t length = strlen(list) - strlen(SITE_LIST_SUFFIX);
    int rc = site_list_read(list, &sites, err);
    if (rc < 0)
        return rc;
    struct duplicate_file made = {strndup(list, length), add_image(t, sites.original)};
    if (!made.path || !made.image ||
        !vec_push(t->duplicates, t->duplicate_count, t->duplicate_capacity, made)) {
        free(made.path);
        site_list_clear(&sites);
        return error_memory(err);
    }
    made.image->sites = sites;
    made.image->code = open_image(t, made.path);
    made.image->original = open_image(t, sites.original);
    return 0;
}

static bool is_list(const char *name)
{
    size_t length = strlen(name), suffix = strlen(SITE_LIST_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, SITE_LIST_SUFFIX) == 0;
}

static int add_duplicates(struct traced_images *t, const char *directory, struct fathom_error *err)
{
    char path[4096];
    int rc = 0;
    snprintf(path, sizeof path, "%s/" TRACE_IMAGES, directory);
    DIR *images = opendir(path);
    if (!images) /* an emitted file: its list is beside it */
        return errno == ENOENT ? 0 : error_system(err, errno, "cannot read %s", path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(images));) {
        if (!is_list(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/" TRACE_IMAGES "/%s", directory, entry->d_name);
        rc = add_duplicate(t, path, err);
    }
    closedir(images);
    return rc;
}

int traced_images_new(const char *directory, struct image_cache *cache, const struct log *log,
                      struct traced_images **out, struct fathom_error *err)
{
    struct traced_images *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->cache = cache;
    t->log = log;
    int rc = add_duplicates(t, directory, err);
    if (rc == 0)
        *out = t;
    else
        traced_images_free(t);
    return rc;
}

void traced_images_free(struct traced_images *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        objects_free(t->all[i]->objects);
        site_list_clear(&t->all[i]->sites);
        free(t->all[i]->path);
        free(t->all[i]);
    }
    for (size_t i = 0; i < t->duplicate_count; i++)
        free(t->duplicates[i].path);
    free(t->duplicates);
    free(t->all);
    free(t);
}

/* Whether a process ran this duplicated file, which may have been moved since; compares the last two parts of the
 * paths. */
static bool is_same_place(const char *path, const char *duplicate)
{
    const char *end = strrchr(duplicate, '/');
    while (end && end > duplicate && end[-1] != '/')
        end--;
    size_t length = strlen(path), tail = end ? strlen(end) : 0;
    return end && end > duplicate && length > tail && path[length - tail - 1] == '/' &&
           strcmp(path + length - tail, end) == 0 && strstr(end, TRACE_IMAGES "/") == end;
}

static struct traced_image *find_image(const struct traced_images *t, const char *path)
{
    for (size_t i = 0; i < t->duplicate_count; i++)
        if (strcmp(t->duplicates[i].path, path) == 0 || is_same_place(path, t->duplicates[i].path))
            return t->duplicates[i].image;
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->all[i]->path, path) == 0)
            return t->all[i];
    return NULL;
}

struct traced_image *traced_images_get(struct traced_images *t, const char *path)
{
    char list[4096 + sizeof SITE_LIST_SUFFIX];
    struct traced_image *image = find_image(t, path);
    if (image)
        return image;
    if (t->count >= IMAGES_MOST) /* more than any program has: nothing is known about the others */
        return t->all[t->count - 1]->code ? add_image(t, "") : t->all[t->count - 1];
    snprintf(list, sizeof list, "%s" SITE_LIST_SUFFIX, path);
    if (path[0] == '/' && add_duplicate(t, list, NULL) == 0)
        return t->duplicates[t->duplicate_count - 1].image;
    image = add_image(t, path);
    if (image)
        image->code = image->original = open_image(t, path);
    return image;
}

const struct object *traced_object(struct traced_image *image, uint64_t address)
{
    if (!image->objects && image->original)
        image->objects = objects_new(image->original);
    return image->objects ? objects_at(image->objects, address) : NULL;
}

const struct image *traced_function(const struct traced_image *image, uint64_t address, uint64_t *out)
{
    *out = address;
    /* what was not moved is at its old address */
    bool stays = image->original && image_function_at(image->original, address) != IMAGE_NO_FUNCTION;
    if (image->original && !stays && site_list_function(&image->sites, address, out))
        return image->original;
    return stays ? image->original : image->code;
}
