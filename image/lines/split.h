/*
 * split.h - split debug information (-gsplit-dwarf; DWARF 5, 7.3.2; GCC's form of DWARF 4): a unit's functions are in a .dwo
 * file, or with those of all units in PROGRAM.dwp, and the program has only a skeleton of it, with its lines. Private to
 * image/lines/.
 *
 * Looked for: PROGRAM.dwp; the file that the skeleton names, below the directory of compilation, or beside the program.
 */
#ifndef FATHOM_IMAGE_LINES_SPLIT_H
#define FATHOM_IMAGE_LINES_SPLIT_H

#include "image/lines/unit.h"

/* Whether a unit, by its DIE and the number in its header, is a skeleton; *id: the number of its part. */
bool lines_split_id(Dwarf_Die die, const Dwarf_Sig8 *header, uint64_t *id);
/* Counts the skeleton as missing if there is no file for it (lines_source.lacks). */
void lines_split_check(struct lines_source *source, Dwarf_Die skeleton);
/* The DIE of a skeleton's part (*out: the caller's), its file and the file's number, from 1. They stay as they were if it is
 * not there. 0 or -ENOMEM. */
int lines_split_find(struct lines_source *source, const struct lines_unit *unit, Dwarf_Die skeleton,
                     Dwarf_Debug *debug, uint32_t *number, Dwarf_Die *out);
/* Where the lists of ranges of a part are in its file. */
void lines_split_lists(Dwarf_Debug debug, Dwarf_Die part, struct lines_ranges_source *out);
void lines_split_close(struct lines_source *source);

#endif
