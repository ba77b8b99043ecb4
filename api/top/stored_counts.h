/* stored_counts.h - the contexts of `fathom top --store`: those of a service's last slots in a store, read again once they are old. */
#ifndef FATHOM_API_TOP_STORED_COUNTS_H
#define FATHOM_API_TOP_STORED_COUNTS_H

#include "api/fathom/top.h"
#include "hcct/cct.h"
#include "profile/frames.h"

struct stored_counts;

/* Opens the store. event: beginning of an event's name; NULL: the event with the most samples. Both are borrowed. Errors of store_open(). */
int stored_counts_new(const struct fathom_store_selection *selection, const char *event,
                      struct stored_counts **out, struct fathom_error *err);
void stored_counts_free(struct stored_counts *counts); /* NULL is allowed */
/* Reads the store, unless it was just read. Frames and contexts are valid until the next call. Once a reading has succeeded, failures are
 * not returned: the summary has them, and the last reading stays. */
int stored_counts_read(struct stored_counts *counts, struct fathom_error *err);
/* With two metrics, the weight and how much of it is certain; items are the same in each reading. NULL: nothing was read. */
struct cct *stored_counts_tree(const struct stored_counts *counts);
const struct frames *stored_counts_frames(const struct stored_counts *counts);
void stored_counts_summary(const struct stored_counts *counts, struct fathom_top_summary *out);

#endif
