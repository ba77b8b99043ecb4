/*
 * block_map.h - reads .llvm_bb_addr_map, in which clang tells where each basic block of a function came to lie, and the number by which it can be told where it should lie
 * (LLVM's docs/Extensions.rst, SHT_LLVM_BB_ADDR_MAP; of LLVM 14 and earlier, and versions 0 to 2).
 */
#ifndef FATHOM_IMAGE_BLOCK_MAP_H
#define FATHOM_IMAGE_BLOCK_MAP_H

#include "image/image.h"

struct mapped_block {
    uint64_t address, size; /* size: bytes, can be 0; the end does not overflow */
    uint32_t id;
};

struct mapped_function {
    uint64_t address;                  /* of its entry; hostile: any */
    const struct mapped_block *blocks; /* by address, those without bytes first; hostile: they may overlap */
    size_t count;
};

/* Calls see() for each function of all such sections, in their order, until its result is not 0. That result; or -ENOENT: the image has no such section (without a
 * message), -EBADMSG: it is damaged, -ENOTSUP: of a newer version, or -ENOMEM. */
int block_map_read(const struct image *image,
                   int (*see)(void *context, const struct mapped_function *function,
                              struct fathom_error *err),
                   void *context, struct fathom_error *err);

#endif
