/*
 * fuzz_fmap.c - a fuzz target for the .fmap reader: opens a map, asks it everything, merges it.
 *
 * The first byte is a flag: odd, and the checksums of what follows are mended first, so that fuzzing gets
 * behind them.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/pathmap/exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    void *file = malloc(size);
    if (!file)
        return 0;
    memcpy(file, data + 1, size - 1);
    if (data[0] & 1)
        fmap_mend(file, size - 1);
    struct pathmap *map;
    struct fathom_error err = {0};
    int rc = pathmap_open_memory(file, size - 1, &map, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc == 0) {
        fmap_exercise(map);
        pathmap_close(map);
    }
    return 0;
}
