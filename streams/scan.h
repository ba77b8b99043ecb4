/*
 * scan.h - cuts a trace into streams at places that do not depend on what was before: a sample of it has the streams that
 * the whole has, up to where a burst begins or ends in the middle of one. (In a grammar, where one ends depends on all that was
 * seen; as in content-defined chunking, here it depends on some symbols around.)
 *
 * Each symbol has a place, the address of its instruction (in the file as it was, so that other sets of checks have the same streams).
 * A stream begins at a symbol whose place is below those of as many symbols before as the shortest stream has, and not above those
 * of as many after: where a loop begins another round, or a function is called that lies below what runs around it. If the next such
 * symbol is too far, a stream ends before the lowest one that is not. So a loop's body is the same stream wherever a burst enters it.
 *
 * Streams are as short as the options allow, of twice the shortest one's length at most: one that is longer is two, each of which
 * is found in bursts that do not have the other. What is before the first beginning in a burst, and after the last end, is of a stream that
 * was not seen whole: it is not counted, and not in the profile's total, as else streams of short bursts would seem to be
 * colder than those of long ones.
 *
 * That, and the lowest address rather than a hash or the largest jump back, was chosen with one run of lua, among some whose overlaps
 * (docs/benchmarks.md) differ by 3% at most, and measured on other programs.
 *
 * In time proportional to the trace, in memory to the streams that it has.
 */
#ifndef FATHOM_STREAMS_SCAN_H
#define FATHOM_STREAMS_SCAN_H

#include "streams/hot.h"

struct hot_scan;

/* What is found is added to the profile, which must stay where it is. `shortest` is at least 1; streams have twice as many symbols at most,
 * or `longest`. NULL: out of memory. */
struct hot_scan *scan_new(struct hot_profile *profile, const struct hot_options *options);
/* NULL is allowed; without scan_break() the last ones are not counted. */
void scan_free(struct hot_scan *scan);
/* The next symbol. -ENOMEM; after an error only scan_free() is allowed. */
int scan_push(struct hot_scan *scan, uint32_t symbol, uint64_t place);
/* The burst ended: no stream goes on across it. As scan_push(). */
int scan_break(struct hot_scan *scan);

#endif
