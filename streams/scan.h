/*
 * scan.h - cuts a trace into streams at places that do not depend on what came before: a sample of the trace has
 * the same streams as the whole, except where a burst begins or ends in the middle of one. (In a grammar, a
 * stream's end depends on everything before; here, as in content-defined chunking, on some symbols around.)
 *
 * Each symbol has a place, its instruction's address (in the original file, so that other sets of checks give the
 * same streams). A stream begins at a symbol whose place is below those of the preceding symbols, as many as the
 * shortest stream has, and not above those of as many following ones: where a loop begins another round, or a
 * function is called that is located below the code around it. If the next such symbol is too far away, a stream
 * ends before the lowest one within reach. So a loop's body is the same stream wherever a burst enters it.
 *
 * Streams are as short as the options allow, at most twice as long as the shortest: a longer one is cut in two,
 * each of which is found in bursts that do not contain the other. The symbols before the first beginning in a
 * burst, and after the last end, belong to streams that were not seen completely: they are neither counted nor
 * part of the profile's total, as otherwise streams of short bursts would seem colder than those of long ones.
 *
 * This, and the lowest address rather than a hash or the largest jump back, was chosen by one run of lua, among
 * alternatives whose overlaps (docs/benchmarks.md) differ by at most 3%, and measured on other programs.
 *
 * Takes time in proportion to the trace, and memory in proportion to its streams.
 */
#ifndef FATHOM_STREAMS_SCAN_H
#define FATHOM_STREAMS_SCAN_H

#include "streams/hot.h"

struct hot_scan;

/* Streams found are added to the profile, which must stay in place. `shortest` is at least 1; streams have at
 * most twice as many symbols, or `longest`. NULL: out of memory. */
struct hot_scan *scan_new(struct hot_profile *profile, const struct hot_options *options);
/* NULL is allowed; without scan_break() the last streams are not counted. */
void scan_free(struct hot_scan *scan);
/* Adds the next symbol. -ENOMEM; after an error only scan_free() is allowed. */
int scan_push(struct hot_scan *scan, uint32_t symbol, uint64_t place);
/* Ends the burst: no stream crosses this point. Errors as scan_push(). */
int scan_break(struct hot_scan *scan);

#endif
