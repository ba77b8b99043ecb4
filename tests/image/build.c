/* build.c - see build.h. The directory is one for each process: Criterion runs every test in its own. */
#include "tests/image/build.h"

#include <criterion/criterion.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[64];

static const char *directory_name(void)
{
    if (!directory[0]) {
        char name[] = "/tmp/fathom-test-XXXXXX";
        cr_assert_not_null(mkdtemp(name));
        memcpy(directory, name, sizeof name);
    }
    return directory;
}

void build_run(const char *fmt, ...)
{
    char command[4096], whole[6000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "cd %s && CC=${CC:-cc} CXX=${CXX:-c++} && { %s; } >&2", directory_name(),
             command);
    cr_assert_eq(system(whole), 0, "failed: %s", command);
}

const char *build_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory_name(), name);
    return path;
}

void build_source(const char *name, const char *text)
{
    FILE *f = fopen(build_path(name), "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

struct image *build_open(const char *name)
{
    struct image *image = NULL;
    struct fathom_error err = {0};
    struct image_options options = {.debug_directory = directory_name()};
    int rc = image_open(build_path(name), &options, &image, &err);
    cr_assert_eq(rc, 0, "%s", err.text);
    return image;
}

uint64_t build_function(const struct image *image, const char *name)
{
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        if (f->name && strcmp(f->name, name) == 0)
            return f->address;
    }
    cr_assert(false, "no function %s", name);
    return 0;
}

void build_clean(void)
{
    char command[128];
    if (!directory[0])
        return;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", directory);
}
