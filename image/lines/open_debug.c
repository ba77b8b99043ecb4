/* open_debug.c - see open_debug.h. */
#include "image/lines/open_debug.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/saturate.h"
#include "image/lines/unpacked.h"

/* libdwarf calls this if no error object was passed; otherwise it would abort. */
static void ignore_error(Dwarf_Error error, Dwarf_Ptr context)
{
    (void)error;
    (void)context;
}

Dwarf_Debug lines_debug_open_file(int fd, uint64_t *work)
{
    Dwarf_Debug debug = NULL;
    Dwarf_Error error = NULL;
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int opened = dwarf_init_path(name, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, ignore_error, NULL, &debug,
                                 NULL, 0, NULL, &error);
    if (opened == DW_DLV_OK)
        *work = add_saturating(*work, unpacked_size(name));
    close(fd);
    if (opened == DW_DLV_ERROR)
        dwarf_dealloc_error(NULL, error);
    return opened == DW_DLV_OK ? debug : NULL;
}

/* If the file has since been replaced by a pipe, libdwarf would wait for a writer. */
Dwarf_Debug lines_debug_open(const char *path, uint64_t *work)
{
    int fd = file_open_regular(path, NULL);
    char name[40];
    if (fd < 0)
        return NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int unpacked = unpacked_open(name, false);
    if (unpacked >= 0) {
        close(fd);
        fd = unpacked;
    }
    return lines_debug_open_file(fd, work);
}
