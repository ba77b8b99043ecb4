/*
 * disassembler.h - instructions as text for people (capstone, AT&T syntax as of objdump).
 */
#ifndef FATHOM_IMAGE_CODE_DISASSEMBLER_H
#define FATHOM_IMAGE_CODE_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#define DISASSEMBLED_SIZE 224 /* characters with the NUL */

struct disassembler;

struct disassembler *disassembler_new(void); /* NULL: out of memory */
void disassembler_free(struct disassembler *disassembler);
/* The instruction at the start of `code`, of which there is at least a byte. Returns its length in bytes. What is none, or is cut
 * by the end, is "(bad)"; one that capstone does not know, "(unknown)" with its bytes. */
unsigned disassembler_read(struct disassembler *disassembler, const uint8_t *code, size_t size,
                           uint64_t address, char out[DISASSEMBLED_SIZE]);

#endif
