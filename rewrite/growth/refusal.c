/* refusal.c - texts for the reasons why frames are left alone; see growth.h. */
#include "rewrite/growth/growth.h"

static const char *const texts[GROWTH_REFUSALS] = {
    [GROWTH_RESIZABLE] = "it can grow",
    [GROWTH_NOT_A_FUNCTION] = "it is a part of another function, or a stub of the linker",
    [GROWTH_NO_FRAME] = "it has no frame",
    [GROWTH_PUSHED] = "its frame is made by pushes alone",
    [GROWTH_NO_ROOM] = "an instruction has no room for a larger number",
    [GROWTH_NO_ROOM_CFI] = "its CFI has no room for a larger number",
    [GROWTH_NO_CFI] = "some of its code has no CFI",
    [GROWTH_CFI_DIFFERS] = "its CFI does not agree with its code",
    [GROWTH_CFI_UNSUPPORTED] = "its CFI has rules that are not supported",
    [GROWTH_CODE_UNKNOWN] = "some of its bytes are no known instruction",
    [GROWTH_CODE_UNREACHED] = "no known way leads to some of its code",
    [GROWTH_JUMP_UNKNOWN] = "it jumps to places that are not known",
    [GROWTH_JUMPS_OUT] = "it jumps out of its frame into other code",
    [GROWTH_ENTERED] = "other code enters its middle",
    [GROWTH_ENDS_OPEN] = "its end runs on into other code",
    [GROWTH_REALIGNED] = "it aligns its stack pointer",
    [GROWTH_STACK_UNKNOWN] = "it moves its stack pointer by an unknown amount",
    [GROWTH_POPPED] = "it frees its frame by pops",
    [GROWTH_SAVED_BELOW] = "it saves registers in the frame that it allocated",
    [GROWTH_RED_ZONE] = "it uses memory below its stack pointer",
    [GROWTH_ADDRESS_ABOVE] = "an address may be of its own frame or of its caller's",
    [GROWTH_ADDRESS_TAKEN] = "it keeps the stack pointer's value before its frame is allocated",
    [GROWTH_MIXED] = "it addresses its frame by SP and by BP",
    [GROWTH_OPERAND] = "an operand is not understood",
    [GROWTH_LANDING_PADS] = "its exceptions land where its code does not say",
    [GROWTH_DEBUG_FRAME] = "its file has CFI in .debug_frame, too",
};

const char *growth_refusal_text(enum growth_refusal refusal)
{
    return (unsigned)refusal < GROWTH_REFUSALS ? texts[refusal] : "it is unknown";
}
