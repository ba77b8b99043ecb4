/*
 * perf_map.h - reads /tmp/perf-PID.map, in which a runtime writes what code it made, for perf(1) (tools/perf/Documentation/jit-interface.txt):
 * a line each, "START SIZE NAME", numbers in hexadecimal (HotSpot's with 0x). V8, HotSpot, CPython's -X perf, PHP, .NET, Erlang and others do.
 */
#ifndef FATHOM_IMAGE_MADE_PERF_MAP_H
#define FATHOM_IMAGE_MADE_PERF_MAP_H

#include "image/made/code_namer.h"

/* Adds what the text says, to what was begun in the namer; other lines are passed over, and so is the last one if nothing ends it, as it is
 * being written. Returns as code_namer_add(). */
int perf_map_read(struct code_namer *namer, const char *text, size_t size);

#endif
