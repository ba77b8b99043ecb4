/*
 * fmap.h - the on-disk structs of an .fmap file (docs/fmap.md), shared by its writer and reader.
 */
#ifndef FATHOM_PATHMAP_MAP_FMAP_H
#define FATHOM_PATHMAP_MAP_FMAP_H

#include <stdint.h>

#include "base/hash.h"
#include "image/image.h"

#define FMAP_MAGIC        "FMAP"
#define FMAP_VERSION      2u /* written if paths include frames of unhooked images; else 1 */
#define FMAP_MAX_SECTIONS 64u
#define FMAP_ALIGNMENT    64u
#define FMAP_BLOCK        (256u << 10) /* bytes per checksum */
#define FMAP_NONE         UINT32_MAX

enum fmap_kind {
    FMAP_IMAGES = 1,
    FMAP_FUNCTIONS,
    FMAP_FUNCTION_NODES,
    FMAP_NODES,
    FMAP_PATHS,
    FMAP_INDEX,
    FMAP_STRINGS,
    FMAP_STATISTICS,
    FMAP_PCS,    /* optional */
    FMAP_TRIALS, /* the same */
    FMAP_KINDS,  /* one more than the last */
};

struct fmap_header {
    char magic[4];
    uint32_t version;
    uint64_t size;
    uint32_t sections;
    uint32_t reserved;
};

struct fmap_section {
    uint32_t kind;
    uint32_t reserved;
    uint64_t offset;
    uint64_t length;
    uint64_t checksum;
};

struct fmap_image {
    uint32_t path;
    uint8_t build_id_size;
    uint8_t build_id[BUILD_ID_MAX];
    uint8_t hooked;  /* 0 or 1 */
    uint8_t entered; /* the same */
    uint8_t reserved[5];
};

struct fmap_function {
    uint64_t address;
    uint32_t image;
    uint32_t name;
};

struct fmap_node {
    uint32_t parent;
    uint32_t function;
    uint32_t height;
    uint32_t site;
    uint64_t passes;
    uint64_t self;
};

struct fmap_cid {
    uint32_t function;
    uint32_t height;
    uint32_t first;
    uint32_t count; /* 0: free */
};

struct fmap_statistics {
    uint64_t paths_entered;
    uint64_t paths_cut;
    uint64_t paths_failed;
    uint32_t function_paths;
    uint32_t reserved;
};

struct fmap_pc {
    uint32_t node;
    uint32_t offset;
    uint32_t samples;
    uint32_t reserved;
};

struct fmap_trial {
    uint64_t samples;
    uint64_t known;
    uint64_t right;
    uint64_t wrong;
    uint64_t said;
    uint32_t part; /* enum trial_part */
    uint32_t reserved;
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is used in place");
_Static_assert(sizeof(struct fmap_header) == 24, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_section) == 32, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_image) == 32, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_function) == 16, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_node) == 32, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_cid) == 16, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_statistics) == 32, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_pc) == 16, "docs/fmap.md");
_Static_assert(sizeof(struct fmap_trial) == 48, "docs/fmap.md");

/* The entry of the CID index where the search for a CID starts. */
static inline uint64_t fmap_slot(uint32_t function, uint32_t height, uint64_t entries)
{
    uint64_t hash = hash_u64((uint64_t)function << 32 | height);
    return (uint64_t)((unsigned __int128)hash * entries >> 64);
}

/* The checksum of a section's bytes. */
uint64_t fmap_checksum(const void *data, uint64_t length);
/* Verifies the checksums of these sections, which must lie inside the file; uses several threads if there is
 * a lot to read. 0, -EBADMSG or -ENOMEM. */
int fmap_verify(const uint8_t *file, const struct fmap_section *sections, uint32_t count);

#endif
