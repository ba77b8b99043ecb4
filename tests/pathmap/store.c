/* store.c - see store.h. */
#include "tests/pathmap/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void put(const struct store_maker *maker, uint64_t at, const void *data,
                                          size_t size)
{
    if (pwrite(maker->fd, data, size, (off_t)at) != (ssize_t)size)
        abort();
}

void store_put_header(struct store_maker *maker)
{
    put(maker, 0, &maker->header, sizeof maker->header);
}

void store_make(struct store_maker *maker)
{
    *maker = (struct store_maker){.fd = memfd_create("store", MFD_CLOEXEC)};
    if (maker->fd < 0)
        abort();
    snprintf(maker->path, sizeof maker->path, "/proc/self/fd/%d", maker->fd);
    maker->header = (struct store_header){.magic = STORE_MAGIC,
                                          .version = STORE_VERSION,
                                          .pid = 7,
                                          .function_count = 1,
                                          .chunk_count = 1,
                                          .thread_count = 1};
    store_put_header(maker);
}

void store_unmake(struct store_maker *maker)
{
    close(maker->fd);
}

void store_put_image(struct store_maker *maker, uint32_t number, const char *path, uint64_t bias,
                     uint64_t low, uint64_t high)
{
    struct store_image image = {.bias = bias, .low = low, .high = high, .build_id_size = 4};
    memset(image.build_id, (int)number + 1, image.build_id_size);
    snprintf(image.path, sizeof image.path, "%s", path);
    put(maker, STORE_IMAGES_AT + number * sizeof image, &image, sizeof image);
    if (maker->header.image_count <= number)
        maker->header.image_count = number + 1;
    store_put_header(maker);
}

void store_put_function(struct store_maker *maker, uint32_t number, uint32_t image, uint64_t vaddr)
{
    struct store_function function = {.image = image, .vaddr = vaddr};
    put(maker, STORE_FUNCTIONS_AT + number * sizeof function, &function, sizeof function);
    if (maker->header.function_count <= number)
        maker->header.function_count = number + 1;
    store_put_header(maker);
}

void store_put_node(struct store_maker *maker, uint32_t number, struct store_node node)
{
    put(maker, STORE_NODES_AT + number * sizeof node, &node, sizeof node);
    if (maker->header.chunk_count <= number / STORE_CHUNK_NODES)
        maker->header.chunk_count = number / STORE_CHUNK_NODES + 1;
    store_put_header(maker);
}
