/*
 * list_cids.h - the step that surveys a recording: its CIDs, with their settings and the times they occurred.
 */
#ifndef FATHOM_INFER_ENGINE_LIST_CIDS_H
#define FATHOM_INFER_ENGINE_LIST_CIDS_H

#include "infer/contexts/unread.h"
#include "infer/engine/observer.h"
#include "infer/samples/survey.h"

struct cid_lister { /* all borrowed */
    struct observer *observer;
    struct survey *survey; /* filled */
    struct unread *unread; /* records what could not be read */
    bool open_programs;    /* the automaton will need the programs' code */
    bool open_all;         /* there is no map: the files' code is the only source of paths */
};

observation_sink list_cids; /* context: a struct cid_lister */

#endif
