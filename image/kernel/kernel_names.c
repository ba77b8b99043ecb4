/* kernel_names.c - see kernel_names.h. */
#include "image/kernel/kernel_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_module(const struct kernel_layout *running, const struct kernel_range *recorded)
{
    const struct kernel_range *here = kernel_layout_module(running, recorded->start);
    return here && here->start == recorded->start && here->end == recorded->end &&
           strcmp(here->name, recorded->name) == 0;
}

/* Maps the address to the running kernel. */
static enum kernel_named locate_address(const struct kernel_layout *recorded,
                                        const struct kernel_layout *running,
                                        const struct kernel_range *module, uint64_t address, uint64_t *here)
{
    if (!recorded->id.size || !build_id_equal(&recorded->id, &running->id))
        return KERNEL_OTHER;
    if (!running->kernel.start)
        return KERNEL_HIDDEN;
    *here = address;
    if (module)
        return has_module(running, module) ? KERNEL_NAMED : KERNEL_UNKNOWN;
    *here = address - recorded->kernel.start + running->kernel.start;
    return *here >= running->kernel.start && *here < running->kernel.end ? KERNEL_NAMED : KERNEL_UNKNOWN;
}

int kernel_names_find(const struct kernel_names *names, uint64_t address, struct kernel_name *out,
                      enum kernel_named *how, struct fathom_error *err)
{
    const struct kernel_layout *recorded = names->recorded, *running;
    int rc = running_kernel_layout(names->running, &running, err);
    if (rc < 0)
        return rc;
    const struct kernel_range *module = kernel_layout_module(recorded, address);
    const struct kernel_range *part = module ? module : &recorded->kernel;
    uint64_t here = 0, start = 0;
    *how = locate_address(recorded, running, module, address, &here);
    const char *function =
        *how == KERNEL_NAMED ? running_kernel_function(names->running, here, &start) : NULL;
    uint64_t low = module ? module->start : running->kernel.start;
    if (*how == KERNEL_NAMED && (!function || start < low))
        *how = KERNEL_UNKNOWN;
    out->image = part->name;
    out->address = address - part->start;
    if (*how == KERNEL_NAMED) {
        out->address = start - low;
        snprintf(out->name, sizeof out->name, "%s", function);
    } else {
        snprintf(out->name, sizeof out->name, "%s+0x%" PRIx64, out->image, out->address);
    }
    return 0;
}
