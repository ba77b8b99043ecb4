/* open_debug.h - opens a file's debug information with libdwarf. Private to image/lines/. */
#ifndef FATHOM_IMAGE_LINES_OPEN_DEBUG_H
#define FATHOM_IMAGE_LINES_OPEN_DEBUG_H

#include <libdwarf/libdwarf.h>

#include <stdint.h>

/* Close it with dwarf_finish(). NULL: unreadable. *work grows by its bytes (lines_spend()). */
Dwarf_Debug lines_debug_open(const char *path, uint64_t *work);
/* The same for an open file that is not compressed; closes the descriptor. */
Dwarf_Debug lines_debug_open_file(int fd, uint64_t *work);

#endif
