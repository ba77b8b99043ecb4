/* nothing.h - private to the collector: the likely reason why a collection has no sample. */
#ifndef FATHOM_COLLECTOR_NOTHING_H
#define FATHOM_COLLECTOR_NOTHING_H

#include "collector/collector_data.h"

/* A clause, without a full stop; after collector_stop(). */
void nothing_reason(const struct collector *collector, char *text, size_t size);

#endif
