/* decoder.h - a handle of capstone with room for one instruction, for x86-64. Private to image/code/. */
#ifndef FATHOM_IMAGE_CODE_DECODER_H
#define FATHOM_IMAGE_CODE_DECODER_H

#include <capstone/capstone.h>
#include <stdbool.h>

struct decoder {
    csh handle;
    cs_insn *insn;
};

/* With an option set (cs_option(3)). false: out of memory, and nothing is to be closed. */
bool decoder_open(struct decoder *d, cs_opt_type option, size_t value);
void decoder_close(struct decoder *d);

#endif
