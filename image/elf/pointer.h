/*
 * pointer.h - encoded pointers of .eh_frame, .eh_frame_hdr and .gcc_except_table (LSB 5.0 core, section 10.5:
 * DW_EH_PE). Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_POINTER_H
#define FATHOM_IMAGE_ELF_POINTER_H

#include "base/bytes.h"

#define POINTER_INDIRECT 0x80
#define POINTER_OMIT     0xff

/* Base addresses of relative pointers; 0: unknown, and pointers of that kind fail. */
struct pointer_bases {
    const uint8_t *section;   /* the bytes at `section_address` */
    uint64_t section_address; /* for pcrel */
    uint64_t data;            /* for datarel */
    uint64_t function;        /* for funcrel */
};

/* Reads one pointer by its encoding; sets b->failed if that is unknown. Indirection is not followed: the result
 * is then the address of the pointer. A stored 0 stays 0. */
uint64_t pointer_read(struct bytes *b, uint8_t encoding, const struct pointer_bases *bases);

#endif
