/*
 * part.h - extracts a unit's split debug information, from a .dwo file, the unit's object
 * file (-gsplit-dwarf=single), or a package of all units (DWARF 5, 7.3.5; GCC's form of DWARF 4). Private to
 * image/lines/.
 *
 * libdwarf reads only plain .dwo files in all these forms: from the others it takes the wrong sections, or
 * crashes.
 */
#ifndef FATHOM_IMAGE_LINES_PART_H
#define FATHOM_IMAGE_LINES_PART_H

#include <stdbool.h>
#include <stdint.h>

struct part_file;
struct sections;

/* NULL: there is no file at this path, or it cannot be read. */
struct part_file *part_file_open(const char *path);
void part_file_close(struct part_file *file);
bool part_file_is_package(const struct part_file *file);
/* Whether it has any part: otherwise it is damaged, or another kind of file. */
bool part_file_has_any(const struct part_file *file);
/* Whether it has the part with this number. Also true if only reading all of it can decide that: DWARF 4, except
 * for packages. */
bool part_file_has(const struct part_file *file, uint64_t id);
/* The sections of the part, to be closed by the caller; NULL: there is none, or it is damaged. */
struct sections *part_file_extract(const struct part_file *file, uint64_t id);

#endif
