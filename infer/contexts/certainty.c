/* certainty.c - see certainty.h. */
#include "infer/contexts/certainty.h"

const char *const certainty_names[CERTAINTIES] = {"proved", "inferred", "unknown"};

enum certainty certainty_of(const struct resolved *r)
{
    static const enum certainty by_source[SOURCES] = {[SOURCE_CID] = CERTAINTY_INFERRED,
                                                      [SOURCE_COMPARED] = CERTAINTY_INFERRED,
                                                      [SOURCE_UNWOUND] = CERTAINTY_PROVED,
                                                      [SOURCE_CHAIN] = CERTAINTY_PROVED,
                                                      [SOURCE_VERIFIED] = CERTAINTY_PROVED};
    return r->kind == RESOLVED_UNKNOWN ? CERTAINTY_UNKNOWN : by_source[r->source];
}
