/* files.c - see files.h. */
#include "tests/api/files.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char files_root[64];

void files_begin(void)
{
    strcpy(files_root, "/tmp/fathom-cli.XXXXXX");
    cr_assert_not_null(mkdtemp(files_root));
}

void files_put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", files_root, name);
    for (char *at = path + strlen(files_root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

void files_end(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", files_root);
    cr_assert_eq(system(command), 0);
}
