/* slotted.h - turns the samples of a recording's reports into batches of a store: by service, build and slot. */
#ifndef FATHOM_API_STORE_SLOTTED_H
#define FATHOM_API_STORE_SLOTTED_H

#include "perfdata/reader.h"
#include "report/views/report.h"
#include "store/store.h"

#define SLOTTED_LEVELS "container,service,exe" /* levels of the contexts' paths (profile/levels.h) */

struct slotted;

struct slotted_options {
    const char *service; /* NULL: from the levels */
    const char *host;
    const struct reader *reader; /* of the recording: build-ids must not depend on the files of today */
    uint64_t sequence;
    uint64_t ended; /* when the sample with the largest time was taken, ns since 1970 */
    uint64_t last;  /* that time */
};

/* NULL: out of memory. Texts are borrowed. */
struct slotted *slotted_new(const struct slotted_options *options);
void slotted_free(struct slotted *slots); /* NULL is allowed */
/* Adds the samples of an event's report, whose texts are borrowed until slotted_free(). -ENOMEM. */
int slotted_add(struct slotted *slots, const struct report *report, struct fathom_error *err);
/* Returns the batches and the dictionary of their contexts; borrowed. Call it once. */
int slotted_finish(struct slotted *slots, struct store_batch **batches, size_t *count,
                   struct dictionary **dictionary, struct fathom_error *err);

#endif
