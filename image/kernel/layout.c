/* layout.c - see layout.h. The names are those of tools/perf/util/machine.c and dso.c (kmod_path__parse). */
#include "image/kernel/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The "[ext4]" in "[ext4]" or in a file's path, where the kernel writes '-' as '_'. false: not a module. */
static bool module_name(const char *path, char *out, size_t size)
{
    const char *name = strrchr(path, '/'), *end;
    if (name)
        name++, end = strstr(name, ".ko");
    else
        name = path + (*path == '['), end = *path == '[' ? strchr(path, ']') : NULL;
    if (!end || end == name || (size_t)(end - name) + 3 > size)
        return false;
    snprintf(out, size, "[%.*s]", (int)(end - name), name);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return true;
}

int kernel_layout_add(struct kernel_layout *layout, const char *path, uint64_t start, uint64_t end,
                      const struct build_id *id)
{
    static const char kernel[] = "[kernel.kallsyms]";
    struct kernel_range range = {.start = start, .end = end};
    if (start < KERNEL_ADDRESSES || end <= start)
        return 0;
    if (strncmp(path, kernel, sizeof kernel - 1) == 0) {
        snprintf(range.name, sizeof range.name, "[kernel]");
        layout->kernel = range;
        layout->id = *id;
        return 0;
    }
    if (layout->count == KERNEL_MODULES || !module_name(path, range.name, sizeof range.name))
        return 0;
    for (size_t i = 0; i < layout->count; i++) /* already known: a recording may be read several times */
        if (layout->modules[i].start == start && strcmp(layout->modules[i].name, range.name) == 0)
            return 0;
    return vec_push(layout->modules, layout->count, layout->capacity, range) ? 0 : -ENOMEM;
}

const struct kernel_range *kernel_layout_module(const struct kernel_layout *layout, uint64_t address)
{
    for (size_t i = 0; i < layout->count; i++)
        if (address >= layout->modules[i].start && address < layout->modules[i].end)
            return &layout->modules[i];
    return NULL;
}

void kernel_layout_free(struct kernel_layout *layout)
{
    free(layout->modules);
    *layout = (struct kernel_layout){0};
}
