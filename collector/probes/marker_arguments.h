/*
 * marker_arguments.h - the arguments of a static marker (image/markers.h) as the kernel's probes take them.
 *
 * A marker tells each as "SIZE@OPERAND" in the assembler's syntax, a negative size for a signed one: "-4@%edi 8@-16(%rbp) 4@$7"; here
 * these are "%di", "-16(%bp)" and "\7" (Documentation/trace/uprobetracer.rst; arch/x86/kernel/ptrace.c has the registers' names).
 */
#ifndef FATHOM_COLLECTOR_PROBES_MARKER_ARGUMENTS_H
#define FATHOM_COLLECTOR_PROBES_MARKER_ARGUMENTS_H

#include <stddef.h>

#define MARKER_ARGUMENTS 12 /* STAP_PROBE12() has the most */

struct marker_argument {
    char type[4];  /* "s32" */
    char from[28]; /* ""; it is nowhere that a probe can read: in a floating-point register, or at an index */
};

/* What the text tells, hostile or not; returns how many there are. */
size_t marker_arguments_read(const char *text, struct marker_argument out[MARKER_ARGUMENTS]);
/* Fields "argN=..." of those that every one of `places` places has, of one type, for one of them. Cut where `size`
 * bytes are full. Like snprintf. */
int marker_arguments_fields(const struct marker_argument (*arguments)[MARKER_ARGUMENTS], size_t places,
                            size_t place, char *out, size_t size);

#endif
