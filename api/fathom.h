/*
 * fathom.h - the public interface of libfathom: all that the commands of fathom(1) do, for programs of your own.
 *
 * The interface is stable from 1.0 on: a program that is built against a version 1.x runs with it and all later ones 1.x. Versions may add
 * functions, types, values of enumerations and words of lists, but change no structure.
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
