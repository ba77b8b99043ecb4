/* output.c - see output.h. */
#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_begin(struct outfile *file, struct fathom_error *err)
{
    int fd;
    return outfile_is_stream(file) ? 0 : outfile_begin(file, &fd, err);
}

int output_print(struct outfile *file, FILE **out, struct fathom_error *err)
{
    int fd = -1, rc = outfile_begin(file, &fd, err);
    if (rc < 0)
        return rc;
    int copy = dup(fd);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!stream) {
        rc = error_system(err, errno, "cannot write %s", outfile_path(file));
        if (copy >= 0)
            close(copy);
        return rc;
    }
    *out = stream;
    return 0;
}

int output_printed(struct outfile *file, FILE *out, int rc, struct fathom_error *err)
{
    if (fclose(out) != 0 && rc == 0)
        rc = error_system(err, errno, "cannot write %s", outfile_path(file));
    return rc == 0 ? outfile_publish(file, false, err) : rc;
}

static bool is_same_file(const char *input, const struct stat *output)
{
    struct stat status;
    return (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(input, &status)) == 0 &&
           status.st_dev == output->st_dev && status.st_ino == output->st_ino;
}

bool output_names(const char *path, const char *input)
{
    struct stat output;
    return input && stat(path, &output) == 0 && is_same_file(input, &output);
}

bool output_is(const struct outfile *file, const char *input)
{
    const char *target = outfile_target(file);
    struct stat output, directory;
    if (!input || !target || stat(target, &output) < 0)
        return false;
    char *absolute = outfile_absolute(file), *slash = absolute ? strrchr(absolute, '/') : NULL;
    bool inside = false;
    if (slash && slash > absolute) {
        *slash = '\0';
        inside = stat(absolute, &directory) == 0 && is_same_file(input, &directory);
    }
    free(absolute);
    return inside || is_same_file(input, &output);
}

int output_spares(const struct outfile *output, const char *recording, const char *map,
                  struct fathom_error *err)
{
    const char *replaced = output_is(output, recording) ? "recording" : output_is(output, map) ? "map" : NULL;
    return replaced ? error_set(err, EINVAL, "%s is the %s that is read: name another output",
                                outfile_path(output), replaced)
                    : 0;
}
