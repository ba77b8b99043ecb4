/* stored.h - a report of what a store has, in place of one of a recording. */
#ifndef FATHOM_API_STORE_STORED_H
#define FATHOM_API_STORE_STORED_H

#include "api/fathom/store.h"
#include "api/report/options.h"

/* What a store cannot tell, or only by samples: -EINVAL. */
int stored_check(const struct report_options *options, const struct fathom_profile_options *profile,
                 struct fathom_error *err);

/* Which paths count; *out stays as it is if all do. For the frames of one gathering. */
int stored_filter(const struct filter_options *options, struct filter **out, struct fathom_error *err);

struct stored;

/* Opens the store that from->store names. options: made of `from`; both are borrowed. -EINVAL: they ask for what only single samples
 * tell; others: as store_open(). */
int stored_open(const struct report_options *options, const struct fathom_report_options *from,
                struct stored **out, struct fathom_error *err);
void stored_close(struct stored *stored); /* NULL is allowed */
/* Adds up what was chosen; once. Errors: as selection_complete(), store_each(), store_context(). */
int stored_run(struct stored *stored, struct fathom_error *err);
/* Then: to the options' output, which is closed with them, or else to the stream. */
int stored_write(struct stored *stored, FILE *stream, struct fathom_error *err);
/* Then: whether the options leave no sample. */
bool stored_empty(const struct stored *stored);

#endif
