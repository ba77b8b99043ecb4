/* inferred.h - what the pipeline tells of the contexts that training never saw, for report/inferences.h. */
#ifndef FATHOM_CLI_INFERRED_H
#define FATHOM_CLI_INFERRED_H

#include "infer/pipeline.h"
#include "report/inferences.h"

static inline struct inferences inferences_of(const struct pipeline_summary *summary)
{
    const struct extend_summary *found = &summary->inferred;
    return (struct inferences){found->open, found->too_high, found->impossible};
}

#endif
