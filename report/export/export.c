/* export.c - what exporters share; see export.h. */
#include "report/export/export.h"

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
