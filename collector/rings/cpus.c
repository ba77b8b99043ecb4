/* cpus.c - see cpus.h. */
#include "collector/rings/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Of /proc/stat, for containers without /sys: lines that begin with "cpu3 ". That of all CPUs begins with "cpu  ". */
static int cpus_of_proc(int **list, size_t *count)
{
    FILE *file = fopen("/proc/stat", "re");
    char *line = NULL;
    size_t line_capacity = 0, capacity = 0, used = 0;
    int *cpus = NULL, cpu, rc = file ? 0 : -errno;
    while (rc == 0 && getline(&line, &line_capacity, file) > 0)
        if (sscanf(line, "cpu%d ", &cpu) == 1 && line[3] != ' ' && cpu >= 0 && cpu < 1 << 16 &&
            !vec_push(cpus, used, capacity, cpu))
            rc = -ENOMEM;
    free(line);
    if (file)
        fclose(file);
    if (rc == 0 && used == 0)
        rc = -ENODEV;
    if (rc < 0) {
        free(cpus);
        return rc;
    }
    *list = cpus;
    *count = used;
    return 0;
}

int cpus_online(const char *path, int **list, size_t *count)
{
    FILE *file = fopen(path, "re");
    size_t capacity = 0, used = 0;
    int *cpus = NULL, low, high;
    if (!file && strcmp(path, CPUS_ONLINE) == 0)
        return cpus_of_proc(list, count);
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
            if (!vec_push(cpus, used, capacity, low)) {
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
