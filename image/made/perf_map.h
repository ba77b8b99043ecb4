/*
 * perf_map.h - reads /tmp/perf-PID.map, in which a runtime records the code that it generates, for perf(1)
 * (tools/perf/Documentation/jit-interface.txt): lines of "START SIZE NAME", with numbers in hexadecimal
 * (HotSpot's with 0x). V8, HotSpot, CPython's -X perf, PHP, .NET, Erlang and others write it.
 */
#ifndef FATHOM_IMAGE_MADE_PERF_MAP_H
#define FATHOM_IMAGE_MADE_PERF_MAP_H

#include "image/made/code_namer.h"

/* Adds the names in the text to those begun in the namer. Other lines are ignored, and so is an unterminated last
 * line, which is still being written. Returns as code_namer_add(). */
int perf_map_read(struct code_namer *namer, const char *text, size_t size);

#endif
