/*
 * part.h - a unit's split debug information as a file of its own, whichever way it is kept: in a .dwo file, in the unit's
 * object file (-gsplit-dwarf=single), or with those of all units in a package (DWARF 5, 7.3.5; GCC's form of DWARF 4).
 * Private to image/lines/.
 *
 * libdwarf reads none but plain .dwo files in all these forms: of others it takes the wrong sections, or crashes.
 */
#ifndef FATHOM_IMAGE_LINES_PART_H
#define FATHOM_IMAGE_LINES_PART_H

#include <stdbool.h>
#include <stdint.h>

struct part_file;

/* NULL: there is none at this path, or it cannot be read. */
struct part_file *part_file_open(const char *path);
void part_file_close(struct part_file *file);
bool part_file_is_package(const struct part_file *file);
/* Whether it has parts at all: else it is damaged, or another kind of file. */
bool part_file_has_any(const struct part_file *file);
/* Whether it has the part with this number. true, too, if only reading it all can tell: DWARF 4, but for packages. */
bool part_file_has(const struct part_file *file, uint64_t id);
/* A memory file with the sections of that part; -1: it has none, or is damaged. */
int part_file_extract(const struct part_file *file, uint64_t id);

#endif
