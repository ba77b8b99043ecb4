/*
 * markers.h - the static markers of a file (USDT), for which its source has DTRACE_PROBE() or STAP_PROBE(). They
 * are notes in the section .note.stapsdt (SystemTap's sys/sdt.h, version 3); at each address is a nop for a
 * debugger to replace.
 */
#ifndef FATHOM_IMAGE_MARKERS_H
#define FATHOM_IMAGE_MARKERS_H

#include "image/elf/elf_file.h"

struct marker {
    uint64_t address;   /* in the file's addresses */
    uint64_t semaphore; /* address of the counter of observers; 0: it has none */
    const char *provider, *name;
    const char *arguments; /* "-4@%edi 8@-16(%rbp)": size and operand of each; "" for none */
    uint64_t note;         /* offset of the note's address in the file, bytes */
};

typedef int marker_see(void *context, const struct marker *marker);
/* Calls see() for each marker until that returns non-zero, which is returned. Stops at damaged notes. Names point
 * into the file. */
int markers_see(const struct elf_file *file, marker_see *see, void *context);

#endif
