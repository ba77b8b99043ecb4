/* decoder.h - a capstone handle for x86-64 and memory for one instruction. Private to image/code/. */
#ifndef FATHOM_IMAGE_CODE_DECODER_H
#define FATHOM_IMAGE_CODE_DECODER_H

#include <capstone/capstone.h>
#include <stdbool.h>

struct decoder {
    csh handle;
    cs_insn *insn;
};

struct insn_reader {
    struct decoder decoder;
};

/* Opens it with one option set (cs_option(3)). false: out of memory, and nothing needs to be closed. */
bool decoder_open(struct decoder *d, cs_opt_type option, size_t value);
void decoder_close(struct decoder *d);

#endif
