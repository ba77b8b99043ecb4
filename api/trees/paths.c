/* paths.c - see paths.h. */
#include "api/trees/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

static int compare(const void *a, const void *b)
{
    const struct cct_node *x = *(struct cct_node *const *)a, *y = *(struct cct_node *const *)b;
    return x->self[0] > y->self[0] ? -1 : x->self[0] < y->self[0];
}

static void print_name(FILE *out, const struct trace *trace, uint32_t function)
{
    const struct trace_function *f = &trace->functions[function];
    const char *slash = strrchr(f->image, '/');
    if (f->name[0])
        fputs(text_name(f->name), out);
    else
        fprintf(out, "%s+0x%" PRIx64, text_name(slash ? slash + 1 : f->image), f->address);
}

static void print_path(FILE *out, const struct trace *trace, bool by_function,
                       const struct cct_node *const *path, size_t depth)
{
    for (size_t i = depth; i-- > 0;) {
        uint32_t item = path[i]->item;
        print_name(out, trace, by_function ? item : trace->places[item].function);
        uint64_t site = by_function ? 0 : trace->places[item].site;
        if (site)
            fprintf(out, "@%" PRIx64, site);
        if (i)
            fputc(';', out);
    }
    fputc('\n', out);
}

int paths_print(FILE *out, struct cct *hot, const struct trace *trace, bool by_function, size_t rows,
                struct fathom_error *err)
{
    struct cct_node *root = cct_root(hot), **nodes = NULL;
    const struct cct_node **path = NULL;
    size_t count = 0, room = 0, path_room = 0;
    int rc = 0;
    for (struct cct_node *n = root; n && rc == 0; n = cct_next(root, n))
        if (n != root && n->self[0] && !vec_push(nodes, count, room, n))
            rc = error_memory(err);
    if (rc == 0)
        qsort(nodes, count, sizeof *nodes, compare);
    for (size_t i = 0; i < count && i < rows && rc == 0; i++) {
        size_t depth = 0;
        for (const struct cct_node *n = nodes[i]; n != root && rc == 0; n = cct_parent(n))
            if (!vec_push(path, depth, path_room, n))
                rc = error_memory(err);
        fprintf(out, "%14" PRIu64 " %10" PRIu64 "  ", nodes[i]->self[0], cct_error(nodes[i]));
        print_path(out, trace, by_function, path, depth);
    }
    free(nodes);
    free(path);
    return rc;
}
