/*
 * unsampled.h - counts the threads (and processes) that started while they were recorded and never had a
 * sample: if events are counted per thread, those that end within a sampling period.
 */
#ifndef FATHOM_PERFDATA_UNSAMPLED_H
#define FATHOM_PERFDATA_UNSAMPLED_H

#include "perfdata/record.h"

struct unsampled;

struct unsampled *unsampled_new(void); /* NULL: out of memory */
void unsampled_free(struct unsampled *unsampled);
/* Takes records in time order. 0 or -ENOMEM. */
int unsampled_apply(struct unsampled *unsampled, const struct record *record);
/* *started: how many started; returns how many of them have had no sample. */
uint64_t unsampled_count(const struct unsampled *unsampled, uint64_t *started);

#endif
