#include "api/symfs.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/text.h"

int symfs_check(const char *directory, struct fathom_error *err)
{
    struct stat st;
    if (!directory)
        return 0;
    if (stat(directory, &st) < 0)
        return error_system(err, errno, "--symfs: cannot open %s", text_name(directory));
    return S_ISDIR(st.st_mode) ? 0 : error_set(err, ENOTDIR, "--symfs: %s is not a directory", directory);
}
