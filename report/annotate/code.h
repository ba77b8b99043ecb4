/*
 * code.h - the instructions of a function, each with the weight of its samples. Private to report/annotate/.
 */
#ifndef FATHOM_REPORT_ANNOTATE_CODE_H
#define FATHOM_REPORT_ANNOTATE_CODE_H

#include <stdbool.h>

#include "image/code/disassembler.h"
#include "report/annotate/choose.h"

#define ANNOTATED_BYTES_MOST                                                                                 \
    ((size_t)4 << 20) /* limit of code to read of one function: takes up to 24 bytes for each byte */

struct annotated_insn {
    uint64_t address;
    uint64_t weight;
    uint8_t length;
    bool shown; /* hot enough, or near one that is */
};

struct annotated_code {
    const struct image *image;
    struct disassembler *disassembler;
    struct annotated_insn *insns; /* by address, including .cold parts */
    size_t count, capacity;
    uint64_t total;  /* weight of all */
    uint64_t unread; /* bytes left out: not in the file, or too many */
    size_t read;     /* bytes of its code, or of the functions it is inlined into */
    uint32_t *hosts; /* the functions it is inlined into, by address */
    size_t host_count, host_capacity;
};

/* Fills all of *out; free it with annotated_code_clear(). Nothing is marked as shown yet. -ENOMEM. */
int annotated_code_read(struct annotated_code *out, const struct contexts *contexts,
                        const struct choice *choice, const struct chosen *function, struct fathom_error *err);
void annotated_code_clear(struct annotated_code *code);
/* Marks instructions of at least this share of the weight (0: all), the `most` hottest of them (0: any number), and some
 * around each. -ENOMEM. */
int annotated_code_show(struct annotated_code *code, double min_percent, size_t most,
                        struct fathom_error *err);
/* Formats an instruction, for a jump or call with its target. */
void annotated_insn_format(const struct annotated_code *code, const struct annotated_insn *insn, char *out,
                           size_t size);

#endif
