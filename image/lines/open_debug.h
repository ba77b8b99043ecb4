/* open_debug.h - opens a file's debug information with libdwarf. Private to image/lines/. */
#ifndef FATHOM_IMAGE_LINES_OPEN_DEBUG_H
#define FATHOM_IMAGE_LINES_OPEN_DEBUG_H

#include <libdwarf/libdwarf.h>

#include "image/lines/sections.h"

struct lines_debug {
    Dwarf_Debug dwarf;
    struct sections *sections;
    Dwarf_Obj_Access_Interface object;
};

/* NULL: unreadable. *work grows by its bytes (lines_spend()). */
struct lines_debug *lines_debug_open(const char *path, uint64_t *work);
/* The same of these sections, which it takes. NULL is allowed. */
struct lines_debug *lines_debug_open_sections(struct sections *sections, uint64_t *work);
void lines_debug_close(struct lines_debug *debug); /* NULL is allowed */

#endif
