/*
 * build_ids.h - private to perfdata/: the recording's table of build-ids by path (HEADER_BUILD_ID), for
 * mappings whose records have none, which is what stock perf writes without --buildid-mmap.
 */
#ifndef FATHOM_PERFDATA_BUILD_IDS_H
#define FATHOM_PERFDATA_BUILD_IDS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "perfdata/record.h"

struct build_id_entry {
    uint8_t id[20], size; /* 0: this path has several */
};

struct build_ids { /* zeroed: empty */
    struct names *paths;
    struct table *by_path; /* hash of a path -> number of its name + 1 */
    struct build_id_entry *entries;
    uint32_t count, capacity; /* of entries, by the path's number */
};

/* Takes one entry: the bytes after its record header, and the header's misc field. Invalid entries are
 * skipped. 0 or -ENOMEM. */
int build_ids_take(struct build_ids *ids, uint16_t misc, struct bytes body);
/* Takes a file's section: consecutive entries. */
int build_ids_take_all(struct build_ids *ids, struct bytes section);
void build_ids_free(struct build_ids *ids);

/* Fills in the build-id of a mapping that has none. */
void build_ids_fill(const struct build_ids *ids, struct record_mmap *mmap);

#endif
