/* write_program.c - see write_program.h. */
#include "tests/rewrite/write_program.h"

#include <stdio.h>
#include <sys/stat.h>

int write_program(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0 || chmod(path, 0755) < 0) {
        perror(path);
        return -1;
    }
    return 0;
}
