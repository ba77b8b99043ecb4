/* recorder.h - shared by recording to a file and other users of the collector. */
#ifndef FATHOM_API_RECORD_RECORDER_H
#define FATHOM_API_RECORD_RECORDER_H

#include "api/fathom/record.h"
#include "collector/collector.h"

/* Like fathom_recorder_check(), without the events and the trigger, which are checked when the collector is opened. */
int recorder_check_options(const struct fathom_recorder_options *options, struct fathom_error *err);
/* Fills in the collector's options; they borrow from `options` and `log`. */
void recorder_collector(const struct fathom_recorder_options *options, const struct log *log,
                        struct collector_options *out);
/* nothing: the result of recorder_say_losses(), if it was called. */
void recorder_summary(const struct collector *collector, bool nothing, struct fathom_recorder_summary *out);
/* Warns about what was not recorded. Returns whether nothing was recorded at all. */
bool recorder_say_losses(const struct collector *collector, const struct log *log);

#endif
