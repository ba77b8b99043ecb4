/* inferred.h - options that switch off stages of inference, which report and evaluate share. */
#ifndef FATHOM_CLI_INFERRED_H
#define FATHOM_CLI_INFERRED_H

#include "cli/options.h"

/* Rows of a command's table of options. */
#define INFERENCE_NO_AUTOMATON(type, member)                                                                 \
    OPTION_FLAG("no-automaton", 0, type, member, "report contexts that training never saw as unknown")
#define INFERENCE_NO_TEMPORAL(type, member)                                                                  \
    OPTION_FLAG("no-temporal", 0, type, member,                                                              \
                "resolve each sample by itself, ignoring what its thread did before and after")
#define INFERENCE_NO_EM(type, member)                                                                        \
    OPTION_FLAG("no-em", 0, type, member, "do not learn path frequencies from ambiguous samples")

#endif
