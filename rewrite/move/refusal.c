/* refusal.c - why functions cannot be moved, in words; see move.h. */
#include "rewrite/move/move.h"

static const char *const texts[MOVE_REFUSALS] = {
    [MOVE_MOVABLE] = "it can be moved",
    [MOVE_NOT_A_FUNCTION] = "it is no function, but part of one or a stub of the PLT",
    [MOVE_NO_CFI] = "no entry of .eh_frame covers exactly its code",
    [MOVE_CFI_UNKNOWN] = "its CFI is not understood",
    [MOVE_CODE_UNKNOWN] = "its code is not understood",
    [MOVE_TOO_SHORT] = "it has no room for a jump to its new place",
    [MOVE_ENTERED] = "other code or a symbol leads to its middle",
    [MOVE_POINTED] = "data points to its middle",
    [MOVE_LABEL_TAKEN] = "it takes the address of its own middle",
    [MOVE_JUMP_UNKNOWN] = "it jumps through a table that was not found",
    [MOVE_SIGNAL_FRAME] = "it is the frame of a signal",
    [MOVE_EXCEPTIONS] = "its table of exceptions is not understood",
    [MOVE_PROBE] = "it contains a SystemTap probe, which allows no other frame or copy",
    [MOVE_LEAVES] = "it jumps out while its frame stands, which allows no other frame",
    [MOVE_CLONED_LABELS] = "it jumps through pointers to its labels, which lead to one copy only",
    [MOVE_EDIT] = "an edit does not fit its instruction",
};

const char *move_refusal_text(enum move_refusal refusal)
{
    return refusal < MOVE_REFUSALS ? texts[refusal] : "";
}
