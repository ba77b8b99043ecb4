/* export.c - shared by exporters; see export.h. */
#include "report/export/export.h"

#include <stdlib.h>
#include <string.h>

int export_branches(const struct contexts *contexts, struct branches *out, struct fathom_error *err)
{
    int rc = branches_of_cct(out, contexts->tree, contexts->doubts, err);
    if (rc < 0)
        return rc;
    rc = branches_check(out, frames_count(contexts->frames), err);
    if (rc == 0)
        rc = branches_arrange(out, branch_compare_weight, contexts->frames, err);
    if (rc < 0)
        branches_clear(out);
    return rc;
}

int used_frames_find(const struct contexts *contexts, struct used_frames *out, struct fathom_error *err)
{
    uint32_t items = frames_count(contexts->frames);
    struct branches b;
    int rc = branches_of_cct(&b, contexts->tree, NULL, err);
    if (rc < 0)
        return rc;
    struct used_frames used = {.items = calloc(items + 1ul, sizeof *used.items),
                               .numbers = calloc(items + 1ul, sizeof *used.numbers)};
    rc = used.items && used.numbers ? branches_check(&b, items, err) : error_memory(err);
    for (uint32_t i = 1; i < b.count && rc == 0; i++)
        used.numbers[b.at[i].item] = 1;
    branches_clear(&b);
    for (uint32_t item = 0; item < items && rc == 0; item++)
        if (used.numbers[item]) {
            used.numbers[item] = used.count;
            used.items[used.count++] = item;
        }
    if (rc < 0)
        used_frames_clear(&used);
    else
        *out = used;
    return rc;
}

void used_frames_clear(struct used_frames *used)
{
    free(used->items);
    free(used->numbers);
    *used = (struct used_frames){0};
}

const char *export_name(const struct contexts *contexts, const struct branches *branches, uint32_t branch)
{
    return branch ? frames_at(contexts->frames, branches->at[branch].item)->name : EXPORT_NOT_KEPT;
}

double export_sure(const struct branch *branch)
{
    double doubt = branch->self ? branch->end_doubt / (double)branch->self : 0;
    return doubt < 1 ? 1 - doubt : 0;
}

bool export_has_values(const struct contexts *contexts, const struct branch *branch)
{
    for (uint32_t m = 0; m < contexts->metrics->count; m++)
        if (branch->node->self[m])
            return true;
    return false;
}

const char *export_pprof_unit(const char *unit)
{
    return strcmp(unit, "ns") == 0 ? "nanoseconds" : strcmp(unit, "samples") == 0 ? "count" : unit;
}
