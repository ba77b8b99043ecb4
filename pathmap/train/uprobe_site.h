/*
 * uprobe_site.h - finds the cheapest instruction of a function at which a kernel uprobe sees it entered.
 *
 * The kernel emulates push, nop, direct jumps, branches and calls (arch/x86/kernel/uprobes.c), and
 * single-steps a copy of any other instruction: 0.5 to 0.8 us against 16 to 19 us where measured. So the
 * probe is put at the first emulated instruction that every activation reaches with SP as at the entry. An
 * activation may reach it more than once, in a loop: the same path is then counted again.
 */
#ifndef FATHOM_PATHMAP_TRAIN_UPROBE_SITE_H
#define FATHOM_PATHMAP_TRAIN_UPROBE_SITE_H

#include "image/code/insn.h"
#include "image/image.h"

struct uprobe_site {
    uint64_t address; /* in the image */
    bool emulated;    /* it is one of the cheap ones */
};

/* false: the entry cannot be decoded, or is a vector instruction that must not be single-stepped. */
bool uprobe_site_choose(const struct image *image, uint32_t function, struct insn_reader *reader,
                        struct uprobe_site *out);

#endif
