/* recorder.h - what recording to a file shares with other ways to take records. */
#ifndef FATHOM_API_RECORD_RECORDER_H
#define FATHOM_API_RECORD_RECORDER_H

#include "api/fathom/record.h"
#include "collector/collector.h"

/* As fathom_recorder_check(), but for events and trigger, which opening the collector looks at. */
int recorder_check_options(const struct fathom_recorder_options *options, struct fathom_error *err);
/* Fills in the collector's options; they borrow from `options` and `log`. */
void recorder_collector(const struct fathom_recorder_options *options, const struct log *log,
                        struct collector_options *out);
/* nothing: as recorder_say_losses() says, once it was called. */
void recorder_summary(const struct collector *collector, bool nothing, struct fathom_recorder_summary *out);
/* Warns about what was not recorded. Returns whether that is everything. */
bool recorder_say_losses(const struct collector *collector, const struct log *log);

#endif
