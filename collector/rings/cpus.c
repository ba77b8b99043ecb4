/* cpus.c - see cpus.h. */
#include "collector/rings/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"

int cpus_online(const char *path, int **list, size_t *count)
{
    FILE *file = fopen(path, "re");
    size_t room = 0, used = 0;
    int *cpus = NULL, low, high;
    if (!file)
        return -errno;
    while (fscanf(file, "%d", &low) == 1) {
        int c = fgetc(file);
        high = low;
        if (c == '-') {
            if (fscanf(file, "%d", &high) != 1)
                break;
            c = fgetc(file);
        }
        for (; low >= 0 && low <= high && high < 1 << 16; low++) {
            if (!vec_push(cpus, used, room, low)) {
                free(cpus);
                fclose(file);
                return -ENOMEM;
            }
        }
        if (c != ',')
            break;
    }
    fclose(file);
    if (used == 0) {
        free(cpus);
        return -ENODEV;
    }
    *list = cpus;
    *count = used;
    return 0;
}
