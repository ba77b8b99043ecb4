/*
 * list_cids.h - the step that surveys a recording: its CIDs, with their settings and the times they occurred.
 */
#ifndef FATHOM_INFER_ENGINE_LIST_CIDS_H
#define FATHOM_INFER_ENGINE_LIST_CIDS_H

#include "base/hash.h"
#include "infer/contexts/unread.h"
#include "infer/engine/observer.h"
#include "infer/samples/survey.h"

struct cid_lister { /* all borrowed */
    struct observer *observer;
    struct survey *survey; /* to fill */
    struct unread *unread; /* gets the files that could not be read */
    bool open_programs;    /* the automaton will need the programs' code */
    /* The map that paths are taken from, and which of its images paths begin in (list_cids_roots()). For programs that are not
     * among them, code is the only source of whole paths: all their files are opened. */
    const struct pathmap *map;
    const struct table *roots;
};

observation_sink list_cids; /* context: a struct cid_lister */

/* The numbers of the map's images in which paths begin. NULL: out of memory. */
struct table *list_cids_roots(const struct pathmap *map);

#endif
