/*
 * clocks.h - adjusts the rates of the clocks that read stacks while recording: measures how much is new in the records
 * (infer/live/novelty.h), and applies the resulting rates (infer/live/rate_control.h).
 */
#ifndef FATHOM_API_RECORD_CLOCKS_H
#define FATHOM_API_RECORD_CLOCKS_H

#include "collector/collector.h"

struct clocks;

/* *out is NULL if the collector has no such clocks. budget: burst and rate, copied. collector is borrowed. */
int clocks_new(struct collector *collector, const struct verify_options *budget, struct clocks **out,
               struct fathom_error *err);
void clocks_free(struct clocks *clocks); /* NULL is allowed */
/* Takes whole raw records, and now and then sets the rates. */
int clocks_add(struct clocks *clocks, const void *records, size_t size, struct fathom_error *err);

#endif
