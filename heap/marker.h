/*
 * marker.h - static markers with three arguments, in the format of <sys/sdt.h> (its notes, version 3:
 * image/markers.h): a nop on which the kernel puts its probe, and a counter that says whether it has.
 */
#ifndef FATHOM_HEAP_MARKER_H
#define FATHOM_HEAP_MARKER_H

#include <stdint.h>

#define MARKER_PROVIDER "fathom"

/* Defines a counter, at file scope. */
#define MARKER_DEFINE(name) __attribute__((section(".probes"))) volatile unsigned short marker_##name

#define MARKER_WATCHED(name) __builtin_expect(marker_##name != 0, 0)

/* The arguments are in rdi, rsi and rdx. */
#define MARKER(name, first, second, third)                                                                   \
    __asm__ volatile("990: nop\n"                                                                            \
                     ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                           \
                     ".balign 4\n"                                                                           \
                     ".4byte 992f-991f, 994f-993f, 3\n"                                                      \
                     "991: .asciz \"stapsdt\"\n"                                                             \
                     "992: .balign 4\n"                                                                      \
                     "993: .8byte 990b, _.stapsdt.base, marker_" #name "\n"                                  \
                     ".asciz \"" MARKER_PROVIDER "\"\n"                                                      \
                     ".asciz \"" #name "\"\n"                                                                \
                     ".asciz \"8@%%rdi 8@%%rsi 8@%%rdx\"\n"                                                  \
                     "994: .balign 4\n"                                                                      \
                     ".popsection\n"                                                                         \
                     :                                                                                       \
                     : "D"((uint64_t)(first)), "S"((uint64_t)(second)), "d"((uint64_t)(third)))

/* The base of the notes' addresses; once per library. */
#define MARKER_BASE                                                                                          \
    __asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                          \
            ".weak _.stapsdt.base\n"                                                                         \
            ".hidden _.stapsdt.base\n"                                                                       \
            "_.stapsdt.base: .space 1\n"                                                                     \
            ".size _.stapsdt.base, 1\n"                                                                      \
            ".popsection\n")

#endif
