/*
 * fathom.h - the public interface of libfathom: all that the commands of fathom(1) do, for programs of your own.
 *
 * The interface is 0.x: what is declared here may still change between versions.
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
