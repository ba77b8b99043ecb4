/*
 * access.h - what a memory sample accessed: where the processor found it, and whose memory it is.
 */
#ifndef FATHOM_PROFILE_ACCESS_H
#define FATHOM_PROFILE_ACCESS_H

#include "process/data.h"

/* Where the data was found, from near to far (union perf_mem_data_src in linux/perf_event.h). */
enum access_source {
    ACCESS_L1,
    ACCESS_LFB, /* line fill buffer: on its way to L1 after an earlier miss */
    ACCESS_L2,
    ACCESS_L3,      /* also L4 */
    ACCESS_RAM,     /* of this node; also persistent memory and CXL */
    ACCESS_REMOTE,  /* another node's memory or cache */
    ACCESS_OTHER,   /* uncached or I/O; or it is only known that a cache missed */
    ACCESS_UNKNOWN, /* the sample does not say */
    ACCESS_SOURCES
};

/* data_src: PERF_SAMPLE_DATA_SRC; 0: not recorded. */
enum access_source access_source(uint64_t data_src);
/* "L1", "RAM" */
const char *access_source_name(enum access_source source);

struct accesses; /* caches images' data objects */

struct accesses *accesses_new(void); /* NULL: out of memory */
void accesses_free(struct accesses *accesses);
/* The name of the memory at a place: "table" of `image`, "[heap]", or "[data]" of an image without a symbol there. *image: the
 * file's name, "" if there is none; valid as long as the image and place->path. Truncated to `size` bytes. -ENOMEM. */
int accesses_name(struct accesses *accesses, const struct data_place *place, uint64_t address, char *out,
                  size_t size, const char **image);
/* The same for the address: "table+0x28", or with the address itself if there is no symbol: "[heap] 0x55d0c0ffee10". */
int accesses_object(struct accesses *accesses, const struct data_place *place, uint64_t address, char *out,
                    size_t size, const char **image);

#endif
