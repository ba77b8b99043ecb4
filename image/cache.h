/*
 * cache.h - opens each image once, by path and build-id.
 *
 * A file whose build-id differs from the recorded one is not used: frames are not looked up in the wrong
 * build. If the path has no file of that build, copies are looked up by build-id (image_find.h).
 */
#ifndef FATHOM_IMAGE_CACHE_H
#define FATHOM_IMAGE_CACHE_H

#include "image/image.h"
#include "image/lines/lines.h"

struct image_cache;

/* options are copied (their strings are borrowed). NULL: out of memory. */
struct image_cache *image_cache_new(const struct image_options *options);
void image_cache_free(struct image_cache *cache); /* closes all images */

const struct image_options *image_cache_options(const struct image_cache *cache);

/* The release (uname -r) of the recorded kernel, NULL: unknown. If it is not the running one, a vDSO of
 * unknown build-id is not this process's. Call before requesting images. */
void image_cache_kernel(struct image_cache *cache, const char *release);

/* The names of code that was made at run time, as a recording has them (made/code_names.h); no bytes: it has none. The image of RUN_TIME_NAME
 * has them from now on; one that was given before stays without. 0 or -ENOMEM. */
int image_cache_code_names(struct image_cache *cache, const void *data, size_t size);
/* What code_names_of() finds in them. */
struct code_set;
const struct code_set *image_cache_code_of(const struct image_cache *cache, uint32_t pid, uint64_t birth);

/* A file that has or had this build, at another path perhaps: if the image that is opened later is stripped and this one is
 * not, it names the functions (twins.h). false: out of memory. */
bool image_cache_also(struct image_cache *cache, const char *path, const struct build_id *id);
/* The paths of a build that were told so, in their order; NULL at the end. Some of them, where a build has many. */
const char *image_cache_path(const struct image_cache *cache, const struct build_id *id, size_t index);
/* Whether such a file, which has symbols, became known after the stripped image was opened; to use it, close all images, none of which may be in
 * use, so that they are opened again. false: out of memory. */
bool image_cache_is_late(const struct image_cache *cache);
bool image_cache_close_all(struct image_cache *cache);

/* Once nothing is recorded any more: images are as if the cache had neither `live` nor `parts_apart`, and what could not be opened is tried
 * once more. No other thread may use them meanwhile, and what image_function_at() said before holds no longer. 0, or -ENOMEM: use the
 * cache for nothing more. */
int image_cache_settle(struct image_cache *cache);

/* The image of a path as recorded. `expected` may be NULL or empty: any build-id is accepted. VDSO_NAME is
 * opened from this process's own vDSO if the build-ids agree, else from a copy (image_find.h); RUN_TIME_NAME is the image of run_time.h. Failures are
 * cached, but tried again now and then if the cache is `live`: -ESTALE: the file is another build; others as image_open().
 * The cache owns the image. */
int image_cache_get(struct image_cache *cache, const char *path, const struct build_id *expected,
                    struct image **out, struct fathom_error *err);

/* Whether image_cache_get() will probably succeed, from the file's headers alone: 0, or why not. */
int image_cache_check(struct image_cache *cache, const char *path, const struct build_id *expected,
                      struct fathom_error *err);

/* true the first time for each path, so that its failure is reported only once. */
bool image_cache_first_failure(struct image_cache *cache, const char *path, const struct fathom_error *why);
/* Whether a failure so reported was -ESTALE: a program or library is not the recorded build. */
bool image_cache_other_build(const struct image_cache *cache);

#define IMAGE_LINES_ANY UINT64_MAX

/* Source lines of an image, opened once: if that is at most so many KiB of debug information, unpacked, with what was read before
 * within such a bound (then no server is asked, either); IMAGE_LINES_ANY: in any case. The cache owns them. NULL: there are
 * none, or too many, or no memory; failures were logged. */
struct lines *image_cache_lines(struct image_cache *cache, const struct image *image, uint64_t most_kib);
/* Images whose lines were not read for the bound, and how large they are; NULL at the end. */
const struct image *image_cache_unread(const struct image_cache *cache, size_t index, uint64_t *size);

/* Images in the order in which they were opened; NULL at the end. */
struct image *image_cache_at(const struct image_cache *cache, size_t index);

#endif
