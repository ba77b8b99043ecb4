/* disassembler.c - see disassembler.h. */
#include "image/code/disassembler.h"

#include <stdio.h>
#include <stdlib.h>

#include "image/code/code.h"
#include "image/code/decoder.h"

struct disassembler {
    struct decoder decoder;
};

struct disassembler *disassembler_new(void)
{
    struct disassembler *d = malloc(sizeof *d);
    if (d && !decoder_open(&d->decoder, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT)) {
        free(d);
        return NULL;
    }
    return d;
}

void disassembler_free(struct disassembler *d)
{
    if (d)
        decoder_close(&d->decoder);
    free(d);
}

unsigned disassembler_read(struct disassembler *d, const uint8_t *code, size_t size, uint64_t address,
                           char out[DISASSEMBLED_SIZE])
{
    struct code_insn known;
    const uint8_t *at = code;
    if (cs_disasm_iter(d->decoder.handle, &at, &size, &address, d->decoder.insn)) {
        snprintf(out, DISASSEMBLED_SIZE, *d->decoder.insn->op_str ? "%-7s %s" : "%s",
                 d->decoder.insn->mnemonic, d->decoder.insn->op_str);
        return d->decoder.insn->size;
    }
    bool length_known = code_read(code, size, address, &known);
    if (!length_known) {
        snprintf(out, DISASSEMBLED_SIZE, "(bad)   %02x", code[0]);
        return 1;
    }
    int used = snprintf(out, DISASSEMBLED_SIZE, "(unknown)");
    for (unsigned i = 0; i < known.length; i++)
        used += snprintf(out + used, DISASSEMBLED_SIZE - (size_t)used, " %02x", code[i]);
    return known.length;
}
