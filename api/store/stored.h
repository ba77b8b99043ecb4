/* stored.h - a report of a store instead of a recording. */
#ifndef FATHOM_API_STORE_STORED_H
#define FATHOM_API_STORE_STORED_H

#include "api/fathom/store.h"
#include "api/report/options.h"

/* Refuses options that need single samples, which a store does not have: -EINVAL. */
int stored_check(const struct report_options *options, struct fathom_error *err);

/* The filter for the frames of one gathering; *out is unchanged if all paths count. */
int stored_filter(const struct filter_options *options, struct filter **out, struct fathom_error *err);

struct stored;

/* Opens the store options->given.store; all is borrowed. -EINVAL: they need single samples; others: as store_open(). */
int stored_open(const struct report_options *options, struct stored **out, struct fathom_error *err);
void stored_close(struct stored *stored); /* NULL is allowed */
/* Adds up the selected batches; at most once. Errors of selection_complete(), store_each() and store_context(). */
int stored_run(struct stored *stored, struct fathom_error *err);
/* Then: writes to the options' output, which is closed with them, or to the stream if there is none. */
int stored_write(struct stored *stored, FILE *stream, struct fathom_error *err);
/* Then: whether the options leave no sample. */
bool stored_empty(const struct stored *stored);

#endif
