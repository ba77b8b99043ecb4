/*
 * split.h - split debug information (-gsplit-dwarf; DWARF 5, 7.3.2; GCC's form of DWARF 4): a unit's functions
 * are in a .dwo file or, with those of all units, in PROGRAM.dwp; the program has only a skeleton with the unit's
 * lines. Private to image/lines/.
 *
 * Places searched: PROGRAM.dwp; the file named by the skeleton, below the directory of compilation, or in or
 * below the directory of the program or of the file with its debug information.
 */
#ifndef FATHOM_IMAGE_LINES_SPLIT_H
#define FATHOM_IMAGE_LINES_SPLIT_H

#include "image/lines/unit.h"

/* Whether a unit, by its DIE and the number in its header, is a skeleton; *id: its part's number. */
bool lines_split_id(Dwarf_Die die, const Dwarf_Sig8 *header, uint64_t *id);
/* Counts the skeleton as missing if its part is not found (lines_source.lacks). */
void lines_split_check(struct lines_source *source, Dwarf_Die skeleton, uint64_t id, uint16_t version);
struct lines_split_found {
    Dwarf_Debug debug; /* of the file */
    uint32_t number;   /* the file's, from 1 */
    Dwarf_Die part;    /* the caller's */
};
/* Finds a skeleton's part. false: not found. */
bool lines_split_find(struct lines_source *source, const struct lines_unit *unit, Dwarf_Die skeleton,
                      struct lines_split_found *out);
/* Where the range lists of a part are in its file. */
void lines_split_lists(Dwarf_Debug debug, struct lines_ranges_source *out);
void lines_split_close(struct lines_source *source);

#endif
