/* refusal.c - why frames are left alone, as sentences; see frames.h. */
#include "disambig/frames/frames.h"

static const char *const texts[FRAMES_REFUSALS] = {
    [FRAMES_RESIZABLE] = "it can grow",
    [FRAMES_NOT_A_FUNCTION] = "it is a part of another function, or a stub of the linker",
    [FRAMES_NO_FRAME] = "it has no frame",
    [FRAMES_PUSHED] = "its frame is made by pushes alone",
    [FRAMES_NO_ROOM] = "an instruction has no room for a larger number",
    [FRAMES_NO_ROOM_CFI] = "its CFI has no room for a larger number",
    [FRAMES_NO_CFI] = "some of its code has no CFI",
    [FRAMES_CFI_DIFFERS] = "its CFI does not agree with its code",
    [FRAMES_CFI_UNSUPPORTED] = "its CFI has rules that are not supported",
    [FRAMES_CODE_UNKNOWN] = "some of its bytes are no known instruction",
    [FRAMES_CODE_UNREACHED] = "no known way leads to some of its code",
    [FRAMES_JUMP_UNKNOWN] = "it jumps to places that are not known",
    [FRAMES_JUMPS_OUT] = "it jumps out of its frame into other code",
    [FRAMES_ENTERED] = "other code enters its middle",
    [FRAMES_ENDS_OPEN] = "its end runs on into other code",
    [FRAMES_REALIGNED] = "it aligns its stack pointer",
    [FRAMES_STACK_UNKNOWN] = "it moves its stack pointer by an unknown amount",
    [FRAMES_POPPED] = "it frees its frame by pops",
    [FRAMES_SAVED_BELOW] = "it saves registers in the frame that it allocated",
    [FRAMES_RED_ZONE] = "it uses memory below its stack pointer",
    [FRAMES_ADDRESS_ABOVE] = "an address may be of its own frame or of its caller's",
    [FRAMES_ADDRESS_TAKEN] = "it keeps the stack pointer's value before its frame is allocated",
    [FRAMES_MIXED] = "it addresses its frame by SP and by BP",
    [FRAMES_OPERAND] = "an operand is not understood",
    [FRAMES_LANDING_PADS] = "its exceptions land where its code does not say",
    [FRAMES_DEBUG_FRAME] = "its file has CFI in .debug_frame, too",
};

const char *frames_refusal_text(enum frames_refusal refusal)
{
    return (unsigned)refusal < FRAMES_REFUSALS ? texts[refusal] : "it is unknown";
}
