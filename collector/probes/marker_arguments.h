/*
 * marker_arguments.h - translates the arguments of a static marker (image/markers.h) to the syntax of kernel
 * probes. A marker has each as "SIZE@OPERAND" in the assembler's syntax, with a negative size if signed:
 * "-4@%edi 8@-16(%rbp) 4@$7"; these become "%di", "-16(%bp)" and "\7" (Documentation/trace/uprobetracer.rst;
 * registers' names: arch/x86/kernel/ptrace.c).
 */
#ifndef FATHOM_COLLECTOR_PROBES_MARKER_ARGUMENTS_H
#define FATHOM_COLLECTOR_PROBES_MARKER_ARGUMENTS_H

#include <stddef.h>

#define MARKER_ARGUMENTS 12 /* STAP_PROBE12() has the most */

struct marker_argument {
    char type[4];  /* "s32" */
    char from[28]; /* "": a probe cannot read it: in a floating-point register, or indexed */
};

/* Parses the text, which may be hostile; returns how many arguments there are. */
size_t marker_arguments_read(const char *text, struct marker_argument out[MARKER_ARGUMENTS]);
/* Writes fields "argN=..." for one place, of the arguments that all `places` places have with one type.
 * Truncated to `size` bytes. Returns like snprintf. */
int marker_arguments_fields(const struct marker_argument (*arguments)[MARKER_ARGUMENTS], size_t places,
                            size_t place, char *out, size_t size);

#endif
