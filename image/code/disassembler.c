/* disassembler.c - see disassembler.h. */
#include "image/code/disassembler.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/code/code.h"

struct disassembler {
    csh handle;
    cs_insn *insn;
};

struct disassembler *disassembler_new(void)
{
    struct disassembler *d = calloc(1, sizeof *d);
    if (!d || cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
        free(d);
        return NULL;
    }
    cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    d->insn = cs_malloc(d->handle);
    if (!d->insn) {
        disassembler_free(d);
        return NULL;
    }
    return d;
}

void disassembler_free(struct disassembler *d)
{
    if (!d)
        return;
    if (d->insn)
        cs_free(d->insn, 1);
    cs_close(&d->handle);
    free(d);
}

unsigned disassembler_read(struct disassembler *d, const uint8_t *code, size_t size, uint64_t address,
                           char out[DISASSEMBLED_SIZE])
{
    struct code_insn known;
    const uint8_t *at = code;
    if (cs_disasm_iter(d->handle, &at, &size, &address, d->insn)) {
        snprintf(out, DISASSEMBLED_SIZE, *d->insn->op_str ? "%-7s %s" : "%s", d->insn->mnemonic,
                 d->insn->op_str);
        return d->insn->size;
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
