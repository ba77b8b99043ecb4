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

/* The release (uname -r) of the recorded kernel; NULL: unknown. If it is not the running kernel, a vDSO of
 * unknown build-id is not taken for this process's own. Call before requesting images. */
void image_cache_kernel(struct image_cache *cache, const char *release);

/* Sets the names of code made at run time, as stored in a recording (made/code_names.h); size 0: the recording
 * has none. The image of RUN_TIME_NAME uses them from now on, except one that was already returned. 0 or -ENOMEM. */
int image_cache_code_names(struct image_cache *cache, const void *data, size_t size);
/* What code_names_of() looks the image's names up in. */
struct code_set;
const struct code_set *image_cache_code_of(const struct image_cache *cache, uint32_t pid, uint64_t birth);

/* Registers a file that has or had this build, perhaps at another path: if the image opened later is stripped and
 * this file is not, it names the functions (twins.h). false: out of memory. */
bool image_cache_also(struct image_cache *cache, const char *path, const struct build_id *id);
/* The registered paths of a build, in order; NULL at the end. At most TWINS_MOST of them. */
const char *image_cache_path(const struct image_cache *cache, const struct build_id *id, size_t index);
/* Whether an unstripped file was registered after the stripped image of its build had been opened. To use it,
 * close all images, none of which may be in use, so that they are opened again. false: out of memory. */
bool image_cache_is_late(const struct image_cache *cache);
bool image_cache_close_all(struct image_cache *cache);

/* Call when recording has ended: images are from now on as if the cache had neither `live` nor `parts_apart`, and
 * what could not be opened is tried once more. No other thread may use the images meanwhile, and earlier results
 * of image_function_at() are no longer valid. 0, or -ENOMEM: the cache must not be used any more. */
int image_cache_settle(struct image_cache *cache);

/* The image of a path as recorded. `expected` may be NULL or empty: any build-id is accepted. VDSO_NAME is opened
 * from this process's own vDSO if the build-ids agree, else from a copy (image_find.h); RUN_TIME_NAME is the
 * image of run_time.h. Failures are cached, but with `live` they are retried now and then. -ESTALE: the file is
 * another build; other errors as image_open(). The cache owns the image. */
int image_cache_get(struct image_cache *cache, const char *path, const struct build_id *expected,
                    struct image **out, struct fathom_error *err);

/* Predicts from the file's headers alone whether image_cache_get() will succeed: 0, or why not. */
int image_cache_check(struct image_cache *cache, const char *path, const struct build_id *expected,
                      struct fathom_error *err);

/* true the first time for each path, so that its failure is reported only once. */
bool image_cache_first_failure(struct image_cache *cache, const char *path, const struct fathom_error *why);
/* Whether a reported failure was -ESTALE: a program or library is not the recorded build. */
bool image_cache_other_build(const struct image_cache *cache);

#define IMAGE_LINES_ANY UINT64_MAX

/* Source lines of an image, opened once, if its uncompressed debug information and that of the images read before
 * stay within most_kib KiB together (then no server is queried); IMAGE_LINES_ANY: no limit. The cache owns them.
 * NULL: none, too many, or out of memory; failures were logged. */
struct lines *image_cache_lines(struct image_cache *cache, const struct image *image, uint64_t most_kib);
/* Images whose lines were not read because of the limit, and their size; NULL at the end. */
const struct image *image_cache_unread(const struct image_cache *cache, size_t index, uint64_t *size);

/* Images in the order in which they were opened; NULL at the end. */
struct image *image_cache_at(const struct image_cache *cache, size_t index);

#endif
