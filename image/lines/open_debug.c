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

/* If the file has since been replaced by a pipe, libdwarf would wait for a writer. */
Dwarf_Debug lines_debug_open(const char *path, uint64_t *work)
{
    int fd = file_open_regular(path, NULL), opened = DW_DLV_NO_ENTRY;
    Dwarf_Debug debug = NULL;
    Dwarf_Error error = NULL;
    if (fd >= 0) {
        char name[40];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        int unpacked = unpacked_open(name);
        if (unpacked >= 0) {
            close(fd);
            fd = unpacked;
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        }
        opened = dwarf_init_path(name, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, ignore_error, NULL, &debug,
                                 NULL, 0, NULL, &error);
    }
    if (fd >= 0)
        close(fd);
    if (opened == DW_DLV_ERROR)
        dwarf_dealloc_error(NULL, error);
    if (opened != DW_DLV_OK)
        return NULL;
    *work = add_saturating(*work, unpacked_size(path));
    return debug;
}
