/* Copies of images by build-id: what is kept, how, and what goes. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/cache.h"
#include "image/calls/calls.h"
#include "image/image_store.h"
#include "image/vdso.h"
#include "tests/image/build.h"

static void use_directory(void)
{
    setenv("XDG_CACHE_HOME", build_path("cache"), 1);
}

static int keep(const char *name, const struct build_id *id)
{
    struct fathom_error err = {0};
    int fd = open(build_path(name), O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    int rc = image_store_keep(fd, id, &err);
    close(fd);
    return rc;
}

static bool is_kept(const struct build_id *id)
{
    char *path = image_store_path(id);
    free(path);
    return path != NULL;
}

Test(image_store, prefers_what_is_not_stripped, .fini = build_clean)
{
    const struct build_id id = {4, {1, 2, 3, 4}};
    use_directory();
    build_source("lib.c", "int f(int x) { return x + 1; }\n");
    build_run(
        "$CC -O2 -fPIC -shared -Wl,--build-id=0x01020304 -o whole.so lib.c && strip -o bare.so whole.so");
    cr_assert_eq(keep("bare.so", &id), 0);
    build_run("cmp bare.so cache/fathom/images/01020304");
    cr_assert_eq(keep("whole.so", &id), 0);
    build_run("cmp whole.so cache/fathom/images/01020304");
    cr_assert_eq(keep("bare.so", &id), 0);
    build_run("cmp whole.so cache/fathom/images/01020304");
}

Test(image_store, gives_what_was_deleted, .fini = build_clean)
{
    use_directory();
    build_source("lib.c", "int f(int x) { return x + 1; }\n");
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x01020304 -o lib.so lib.c");
    const struct build_id id = {4, {1, 2, 3, 4}}, other = {4, {1, 2, 3, 5}};
    cr_expect_not(is_kept(&id));
    cr_assert_eq(keep("lib.so", &id), 0);
    cr_expect(is_kept(&id));
    build_run("rm lib.so");
    struct image_cache *cache = image_cache_new(NULL);
    struct image *image = NULL;
    cr_expect_eq(image_cache_check(cache, build_path("lib.so"), &id, NULL), 0);
    cr_assert_eq(image_cache_get(cache, build_path("lib.so"), &id, &image, NULL), 0);
    cr_expect_str_eq(image_name(image), "lib.so");
    cr_expect(image_exports(image, "f"));
    cr_expect_eq(image_cache_check(cache, build_path("lib.so"), &other, NULL), -ENOENT);
    /* a copy that is not what its name says is not used */
    build_run("cp cache/fathom/images/01020304 cache/fathom/images/01020305");
    cr_expect_eq(image_cache_get(cache, build_path("lib2.so"), &other, &image, NULL), -ENOENT);
    image_cache_free(cache);
}

/* While programs run, what was deleted before it could be read is kept a little later. */
Test(image_store, gives_what_is_kept_later, .fini = build_clean)
{
    use_directory();
    build_source("lib.c", "int f(int x) { return x + 1; }\n");
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x01020304 -o lib.so lib.c");
    const struct build_id id = {4, {1, 2, 3, 4}};
    struct image_cache *live = image_cache_new(&(struct image_options){.live = true});
    struct image_cache *fixed = image_cache_new(NULL);
    struct image *image = NULL;
    cr_expect_eq(image_cache_get(live, build_path("gone.so"), &id, &image, NULL), -ENOENT);
    cr_expect_eq(image_cache_get(fixed, build_path("gone.so"), &id, &image, NULL), -ENOENT);
    cr_assert_eq(keep("lib.so", &id), 0);
    for (int i = 0; i < 100 && !image; i++)
        image_cache_get(live, build_path("gone.so"), &id, &image, NULL);
    cr_assert(image && image_exports(image, "f"));
    for (int i = 0; i < 100; i++)
        cr_expect_eq(image_cache_get(fixed, build_path("gone.so"), &id, &image, NULL), -ENOENT,
                     "one recording, one report");
    image_cache_free(live);
    image_cache_free(fixed);
}

Test(image_store, gives_the_vdso_of_another_kernel, .fini = build_clean)
{
    use_directory();
    setenv("HOME", build_path("home"), 1);
    build_source("lib.c", "int f(int x) { return x + 1; }\n");
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x0a0b -o kept.so lib.c");
    build_run("$CC -O2 -fPIC -shared -Wl,--build-id=0x0a0c -o perf.so lib.c");
    build_run("mkdir -p home/.debug/.build-id/0a/0c; cp perf.so home/.debug/.build-id/0a/0c/vdso");
    const struct build_id kept = {2, {10, 11}}, of_perf = {2, {10, 12}}, nowhere = {2, {10, 13}};
    cr_assert_eq(keep("kept.so", &kept), 0);
    struct image_cache *cache = image_cache_new(NULL);
    struct image *image = NULL;
    cr_expect_eq(image_cache_check(cache, VDSO_NAME, &nowhere, NULL), -ESTALE);
    cr_expect_eq(image_cache_get(cache, VDSO_NAME, &nowhere, &image, NULL), -ESTALE);
    cr_expect_eq(image_cache_check(cache, VDSO_NAME, &kept, NULL), 0);
    cr_assert_eq(image_cache_get(cache, VDSO_NAME, &kept, &image, NULL), 0);
    cr_expect(build_id_equal(image_build_id(image), &kept));
    cr_assert_eq(image_cache_get(cache, VDSO_NAME, &of_perf, &image, NULL), 0);
    cr_expect(build_id_equal(image_build_id(image), &of_perf));
    image_cache_free(cache);
}

Test(image_store, keeps_this_kernels_vdso, .fini = build_clean)
{
    use_directory();
    struct build_id id = {0};
    struct fathom_error err = {0};
    struct image_cache *cache = image_cache_new(NULL);
    struct image *own = NULL;
    cr_assert_eq(image_cache_get(cache, VDSO_NAME, NULL, &own, &err), 0, "%s", err.text);
    cr_expect_eq(vdso_copy(4095, &id, &err), -ENOENT, "a vDSO of another size is another");
    int fd = -1;
    for (uint64_t pages = 1; fd < 0 && pages <= 16; pages++)
        fd = vdso_copy(pages * 4096, &id, &err);
    cr_assert_geq(fd, 0, "%s", err.text);
    cr_expect(build_id_equal(image_build_id(own), &id));
    cr_assert_eq(image_store_keep(fd, &id, &err), 0, "%s", err.text);
    close(fd);
    char *path = image_store_path(&id);
    struct image *copy;
    cr_assert_eq(image_open(path, NULL, &copy, &err), 0, "%s", err.text);
    cr_expect(build_id_equal(image_build_id(copy), &id));
    cr_expect_eq(image_function_count(copy), image_function_count(own));
    free(path);
    image_close(copy);
    image_cache_free(cache);
}

Test(image_store, copies_are_for_the_user_alone, .fini = build_clean)
{
    use_directory();
    umask(0);
    build_source("file", "text");
    const struct build_id id = {2, {1, 2}};
    cr_assert_eq(keep("file", &id), 0);
    build_run(
        "test \"$(stat -c %%a cache cache/fathom cache/fathom/images cache/fathom/images/0102 | xargs)\" = "
        "'700 700 700 600'");
    build_run("test $(ls -A cache/fathom/images | wc -l) = 1");
}

Test(image_store, the_oldest_go_when_there_is_no_capacity, .fini = build_clean)
{
    use_directory();
    build_source("file", "text");
    build_run("truncate -s 200M large; truncate -s 300M larger");
    static const struct build_id ids[6] = {{2, {0, 1}}, {2, {0, 2}}, {2, {0, 3}},
                                           {2, {0, 4}}, {2, {0, 5}}, {2, {0, 6}}};
    cr_expect_eq(keep("larger", &ids[5]), -EFBIG);
    cr_assert_eq(keep("file", &ids[0]), 0);
    /* (copies with holes: a test must not write a gigabyte) */
    build_run("cd cache/fathom/images; for i in 1 2 3 4 5; do cp --sparse=always ../../../large 000$i; "
              "touch -d \"2020-01-0$i\" 000$i; done; touch -d 2019-01-01 .new.abc; touch .new.def");
    cr_assert_eq(keep("file", &ids[0]), 0); /* used again: the youngest now */
    cr_assert_eq(keep("file", &ids[5]), 0);
    cr_expect(is_kept(&ids[0]));
    for (int i = 1; i < 6; i++)
        cr_expect(is_kept(&ids[i]), "%d: there is room for all", i);
    build_run("test ! -e cache/fathom/images/.new.abc");
    build_run("test -e cache/fathom/images/.new.def");
    const struct build_id large = {2, {0, 7}};
    build_run("truncate -s 250M large");
    cr_assert_eq(keep("large", &large), 0);
    cr_expect(is_kept(&large));
    cr_expect(is_kept(&ids[0]));
    cr_expect_not(is_kept(&ids[1]), "the one that was used longest ago went");
    cr_expect(is_kept(&ids[4]));
}

Test(image_store, many_keep_the_same_at_once, .fini = build_clean)
{
    use_directory();
    build_source("file", "text");
    build_run("head -c 3000000 /dev/urandom > file");
    const struct build_id id = {2, {9, 9}};
    for (int i = 0; i < 8; i++)
        if (fork() == 0)
            _exit(keep("file", &id) == 0 ? 0 : 1);
    int status, bad = 0;
    while (wait(&status) > 0)
        bad += status != 0;
    cr_expect_eq(bad, 0);
    build_run("cmp file cache/fathom/images/0909 && test $(ls -A cache/fathom/images | wc -l) = 1");
}
