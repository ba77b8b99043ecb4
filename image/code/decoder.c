/* decoder.c - see decoder.h. */
#include "image/code/decoder.h"

bool decoder_open(struct decoder *d, cs_opt_type option, size_t value)
{
    *d = (struct decoder){0};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK)
        return false;
    cs_option(d->handle, option, value);
    d->insn = cs_malloc(d->handle);
    if (!d->insn)
        cs_close(&d->handle);
    return d->insn;
}

void decoder_close(struct decoder *d)
{
    cs_free(d->insn, 1);
    cs_close(&d->handle);
}
