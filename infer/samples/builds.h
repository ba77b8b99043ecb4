/*
 * builds.h - whether a map that was given is of the builds that a recording ran.
 *
 * A map tells images apart by build-id, so what it says of another build is never used, and one of other
 * programs changes nothing: without a word, the report looks as if it had been made by the map. Each image of
 * a process with samples is held against the map as it was given, before a recording's own stacks join it.
 */
#ifndef FATHOM_INFER_SAMPLES_BUILDS_H
#define FATHOM_INFER_SAMPLES_BUILDS_H

#include "base/log.h"
#include "image/image.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/record.h"

struct builds;

/* map and log are borrowed. NULL: out of memory. */
struct builds *builds_new(const struct pathmap *map, const struct log *log);
void builds_free(struct builds *builds);
/* Notes an image that ran or is mapped. A build-id of size 0 is not known: nothing is noted. What is of
 * another build than the map's is told through the log, once. 0 or -ENOMEM. */
int builds_note(struct builds *builds, const char *path, const struct build_id *id);
/* The same for a record, if it maps code: the image, by the build-id in the record. */
int builds_note_mapped(struct builds *builds, const struct record *record);
/* Whether an image of another build than the map's was noted. */
bool builds_stale(const struct builds *builds);
/* At the end: whether the map is of other programs. It has no image that was noted, nor another build of one,
 * the C library and its loader left aside; or it has programs, but none that was noted: libraries alone can
 * be shared by any two programs, and be all of a map (train --image). */
bool builds_foreign(const struct builds *builds);

#endif
