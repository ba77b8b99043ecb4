/*
 * region.h - memory for code within reach of an image's 32-bit displacements.
 */
#ifndef FATHOM_PATHMAP_PROBE_REGION_H
#define FATHOM_PATHMAP_PROBE_REGION_H

#include <stddef.h>
#include <stdint.h>

/* Maps size bytes, readable and writable, within mutual reach of every byte of [low, high). 0: no room. */
uint64_t region_near(uint64_t low, uint64_t high, size_t size);

#endif
