/*
 * builds.h - checks whether a given map is for the builds that were recorded.
 *
 * A map identifies images by build-id, so its data on another build is never used, and a map of other
 * programs changes nothing: without a warning, the report would look as if it used the map. Each image of a
 * process with samples is compared with the map as given, before a recording's own stacks are added.
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
/* Notes an image that ran or is mapped. A build-id of size 0 is unknown: nothing is noted. An image of
 * another build than the map's is logged once. 0 or -ENOMEM. */
int builds_note(struct builds *builds, const char *path, const struct build_id *id);
/* The same for a record, if it maps code: the image, by the build-id in the record. */
int builds_note_mapped(struct builds *builds, const struct record *record);
/* Whether an image of another build than the map's was noted. */
bool builds_stale(const struct builds *builds);
/* At the end: whether the map is for other programs. It has no noted image, nor another build of one, except
 * for the C library and its loader; or it has programs, but none that was noted: libraries can be shared by
 * any two programs, and a map may have nothing else (train --image). */
bool builds_foreign(const struct builds *builds);

#endif
