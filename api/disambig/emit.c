/* emit.c - `fathom disambig --emit`: writes the pads as a list for the GCC plugin (docs/pads.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/disambig/disambig.h"

int disambig_emit(const struct fathom_disambig *d, struct outfile *out, struct fathom_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *list = open_memstream(&text, &size);
    if (!list)
        return error_memory(err);
    fputs("# symbol\tbytes\n", list);
    for (size_t i = 0; i < d->pad_count; i++) {
        uint32_t function = image_function_entry(d->image, d->pads[i].address);
        fprintf(list, "%s\t%u\n", image_function(d->image, function)->name, d->pads[i].bytes);
    }
    bool failed = ferror(list);
    int rc = fclose(list) != 0 || failed ? error_memory(err) : outfile_put(out, text, size, err);
    free(text);
    return rc;
}
