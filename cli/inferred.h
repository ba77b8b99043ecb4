/*
 * inferred.h - shared by report and evaluate: options that switch off stages of inference, and the engine's
 * statistics on contexts that training never saw, for report/views/inferences.h.
 */
#ifndef FATHOM_CLI_INFERRED_H
#define FATHOM_CLI_INFERRED_H

#include "cli/options.h"
#include "infer/engine/engine.h"
#include "report/views/inferences.h"

/* Rows of a command's table of options, whose struct has a `struct engine_options engine`. */
#define INFERENCE_NO_AUTOMATON(type)                                                                         \
    OPTION_FLAG("no-automaton", 0, type, engine.no_automaton,                                                \
                "report contexts that training never saw as unknown")
#define INFERENCE_NO_TEMPORAL(type)                                                                          \
    OPTION_FLAG("no-temporal", 0, type, engine.no_temporal,                                                  \
                "resolve each sample by itself, ignoring what its thread did before and after")
#define INFERENCE_NO_EM(type)                                                                                \
    OPTION_FLAG("no-em", 0, type, engine.no_em, "do not learn path frequencies from ambiguous samples")

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
