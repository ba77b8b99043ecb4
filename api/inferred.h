/* inferred.h - the engine's statistics on contexts that training never saw, for report/views/inferences.h. */
#ifndef FATHOM_API_INFERRED_H
#define FATHOM_API_INFERRED_H

#include "infer/engine/engine.h"
#include "report/views/inferences.h"

static inline struct inferences inferences_of(const struct engine_summary *summary)
{
    const struct extend_summary *found = &summary->inferred;
    return (struct inferences){.open = found->open,
                               .given_up = found->too_high,
                               .impossible = found->impossible,
                               .cut = found->cut,
                               .steps = summary->steps};
}

#endif
