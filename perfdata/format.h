/*
 * format.h - private to perfdata/: the fixed parts of a perf.data file
 * (tools/perf/Documentation/perf.data-file-format.txt; tools/perf/util/header.h).
 *
 *   struct file_header | ids of each event | struct file_attr of each event | records | features
 *
 * Features: one struct file_section for each bit set in the header, in bit order, then what they point to. In
 * pipe mode only magic and size come first, and attrs and features are records of perf's own types. All of it
 * is little-endian here.
 */
#ifndef FATHOM_PERFDATA_FORMAT_H
#define FATHOM_PERFDATA_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#define FILE_MAGIC         UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define FILE_MAGIC_FOREIGN UINT64_C(0x50455246494c4532) /* the same from the other byte order */
#define FILE_MAGIC_OLD     UINT64_C(0x454c494646524550) /* "PERFFILE": before Linux 3.3 */
#define PIPE_HEADER_SIZE   16

struct file_section {
    uint64_t offset, size; /* bytes, from the file's start */
};

struct file_header {
    uint64_t magic;
    uint64_t size;      /* of this struct */
    uint64_t attr_size; /* of one attr and its section of ids */
    struct file_section attrs, data, event_types;
    uint64_t features[4]; /* bit map of enum feature */
};
_Static_assert(sizeof(struct file_header) == 104, "the header of perf.data has 104 bytes");

/* The size of the attrs that we write: with later fields, Debian 12's stock perf refuses the file. */
#define ATTR_SIZE PERF_ATTR_SIZE_VER7

struct file_attr {
    uint8_t attr[ATTR_SIZE];
    struct file_section ids;
};

/* Copies an attr as stored in a file: ATTR_SIZE bytes, with this as its size. */
static inline void attr_to_file(const struct perf_event_attr *attr, uint8_t *out)
{
    struct perf_event_attr copy = *attr;
    copy.size = ATTR_SIZE;
    memset(out, 0, ATTR_SIZE);
    memcpy(out, &copy, sizeof copy < ATTR_SIZE ? sizeof copy : ATTR_SIZE);
}

/* Copies an attr from a file: `size` bytes, which may be fewer or more than we know. */
static inline void attr_from_file(const uint8_t *data, size_t size, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    memcpy(attr, data, size < sizeof *attr ? size : sizeof *attr);
}

enum feature {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_CPUID = 9,
    FEATURE_TOTAL_MEM = 10, /* u64, KiB */
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_COMPRESSED = 27,
    FEATURE_COUNT = 256,
};

#define COMPRESSED_ZSTD 1 /* the type in FEATURE_COMPRESSED */

/* Record types of perf's own. Others from 64 on contain nothing that is needed here. */
enum user_record {
    USER_HEADER_ATTR = 64,
    USER_HEADER_TRACING_DATA = 66, /* u32 size; that many bytes, padded to 8, follow the record (pipe mode) */
    USER_HEADER_BUILD_ID = 67,     /* an entry of the feature's section */
    USER_FINISHED_ROUND = 68,
    USER_AUXTRACE = 71, /* u64 size; that many bytes follow the record */
    USER_EVENT_UPDATE = 78,
    USER_HEADER_FEATURE = 80,
    USER_COMPRESSED = 81,  /* a piece of a zstd stream; the record's size is not a multiple of 8 */
    USER_COMPRESSED2 = 83, /* u64 size of the piece; padded to 8 */
};

#define EVENT_UPDATE_NAME 2

#endif
