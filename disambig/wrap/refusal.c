/* refusal.c - texts for the reasons why calls are not wrapped; see callees.h. */
#include "disambig/wrap/callees.h"

static const char *const texts[WRAP_REFUSALS] = {
    [WRAP_POSSIBLE] = "it can be wrapped",
    [WRAP_NOT_DIRECT] = "it goes through a pointer or the PLT",
    [WRAP_NO_SITE] = "the map does not know where its function calls from",
    [WRAP_CALLEE_UNKNOWN] = "what it calls is not understood",
    [WRAP_CALLEE_ARGUMENTS] =
        "what it calls may read arguments from the stack, or use the address of its frame",
    [WRAP_CALLEE_JUMPS] = "what it calls goes on by a jump to what is not known",
    [WRAP_LAST] = "it is the last instruction of its function, which goes on nowhere",
    [WRAP_CALLER] = "its function cannot be emitted anew",
};

const char *wrap_refusal_text(enum wrap_refusal refusal)
{
    return refusal < WRAP_REFUSALS ? texts[refusal] : "";
}
