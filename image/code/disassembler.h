/*
 * disassembler.h - instructions as text for people (capstone, AT&T syntax like objdump).
 */
#ifndef FATHOM_IMAGE_CODE_DISASSEMBLER_H
#define FATHOM_IMAGE_CODE_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#define DISASSEMBLED_SIZE 224 /* characters with the NUL */

struct disassembler;

struct disassembler *disassembler_new(void); /* NULL: out of memory */
void disassembler_free(struct disassembler *disassembler);
/* Formats the instruction at the start of `code`, which has at least a byte. Returns its length in bytes. An
 * invalid or truncated instruction is "(bad)"; one that capstone does not know, "(unknown)" with its bytes. */
unsigned disassembler_read(struct disassembler *disassembler, const uint8_t *code, size_t size,
                           uint64_t address, char out[DISASSEMBLED_SIZE]);

#endif
