/*
 * fathom.h - the public interface of libfathom: everything that the fathom(1) commands do, for use in your own programs.
 *
 * The interface is stable from 1.0 on: a program built against a 1.x version runs with that version and every later 1.x. A new version may
 * add functions, types, enumerators and words to lists, but never changes a structure.
 */
#ifndef FATHOM_H
#define FATHOM_H

#include "fathom/archive.h"
#include "fathom/calls.h"
#include "fathom/common.h"
#include "fathom/contexts.h"
#include "fathom/diff.h"
#include "fathom/doctor.h"
#include "fathom/evaluate.h"
#include "fathom/events.h"
#include "fathom/graph.h"
#include "fathom/here.h"
#include "fathom/live.h"
#include "fathom/map.h"
#include "fathom/record.h"
#include "fathom/report.h"
#include "fathom/resolve.h"
#include "fathom/store.h"
#include "fathom/target.h"
#include "fathom/top.h"
#include "fathom/train.h"
#include "fathom/trees.h"
#include "fathom/watch.h"

#endif
