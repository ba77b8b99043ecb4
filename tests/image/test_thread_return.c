/* The address that image_thread_return() tells is the one at the top of a real thread's stack. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "image/cache.h"
#include "image/cfi/cfi.h"

struct libc {
    char path[512];
    uint64_t base;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct libc *libc = context;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    strncpy(libc->path, info->dlpi_name, sizeof libc->path - 1);
    libc->base = info->dlpi_addr;
    return 1;
}

/* Looks for the value in its thread's stack, upward from its own frame; returns where. */
static __attribute__((noinline)) void *scan(void *wanted)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    uint64_t *frame = __builtin_frame_address(0), *end = (uint64_t *)((char *)low + size);
    for (uint64_t *p = frame; p < end; p++)
        if (*p == (uint64_t)(uintptr_t)wanted)
            return p;
    return NULL;
}

Test(thread_return, is_at_the_top_of_a_thread)
{
    struct libc libc = {0};
    cr_assert(dl_iterate_phdr(find_libc, &libc));
    struct image_cache *cache = image_cache_new(NULL);
    struct image *image;
    cr_assert_eq(image_cache_get(cache, libc.path, NULL, &image, NULL), 0);
    uint64_t address = 0;
    cr_assert(image_thread_return(image, &address));
    cr_expect(cfi_lookup(image_cfi(image), address - 1).root);

    pthread_t thread;
    void *found = NULL;
    cr_assert_eq(pthread_create(&thread, NULL, scan, (void *)(uintptr_t)(libc.base + address)), 0);
    pthread_join(thread, &found);
    cr_expect_not_null(found);
    image_cache_free(cache);
}

Test(thread_return, a_program_has_none)
{
    struct image_cache *cache = image_cache_new(NULL);
    struct image *image;
    uint64_t address;
    /* not this one, which may have a sanitizer's own threads */
    cr_assert_eq(image_cache_get(cache, "/bin/true", NULL, &image, NULL), 0);
    cr_expect_not(image_thread_return(image, &address));
    image_cache_free(cache);
}
