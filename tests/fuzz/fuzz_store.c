/*
 * fuzz_store.c - a fuzz target for what reads the probe runtime's stores.
 *
 * A store is mostly holes, so the input is packed: the header's first 80 bytes; two images of 64 bytes each
 * (the start of the struct; paths are fixed); 16 functions of 16 bytes; then nodes of 32 bytes, which lie at
 * the start of the area.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/map/pathmap.h"
#include "pathmap/train/harvest.h"
#include "tests/pathmap/exercise.h"
#include "tests/pathmap/store.h"

#define HEADER_BYTES 80
#define IMAGES       2
#define IMAGE_BYTES  64
#define FUNCTIONS    16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next bytes of the input to a place in the file. */
static void put(int fd, uint64_t at, const uint8_t **data, size_t *size, size_t wanted)
{
    size_t n = *size < wanted ? *size : wanted;
    if (pwrite(fd, *data, n, (off_t)at) != (ssize_t)n)
        abort();
    *data += n;
    *size -= n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store_maker maker;
    store_make(&maker);
    for (uint32_t i = 0; i < IMAGES; i++)
        store_put_image(&maker, i, i ? "/no/such/b" : "/no/such/a", 0, 0, 0);
    put(maker.fd, 0, &data, &size, HEADER_BYTES);
    for (uint32_t i = 0; i < IMAGES; i++)
        put(maker.fd, STORE_IMAGES_AT + i * sizeof(struct store_image), &data, &size, IMAGE_BYTES);
    put(maker.fd, STORE_FUNCTIONS_AT, &data, &size, FUNCTIONS * sizeof(struct store_function));
    put(maker.fd, STORE_NODES_AT, &data, &size, size);

    struct harvest harvest = {0};
    struct trie *trie = trie_new();
    struct image_cache *images = image_cache_new(NULL);
    struct fathom_error err = {0};
    int rc = harvest_store(&harvest, trie, images, maker.path, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc == 0) {
        void *map_data;
        size_t map_size;
        struct pathmap *map;
        if (trie_serialise(trie, &map_data, &map_size, &err) < 0 ||
            pathmap_open_memory(map_data, map_size, &map, &err) < 0)
            abort(); /* whatever the store held, what came of it is a map */
        fmap_exercise(map);
        pathmap_close(map);
    }
    harvest_free(&harvest);
    trie_free(trie);
    image_cache_free(images);
    store_unmake(&maker);
    return 0;
}
