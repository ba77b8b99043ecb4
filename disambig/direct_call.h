/*
 * direct_call.h - the calls and jumps of an image whose target is in the instruction, so that they can be led to
 * a copy of it, or past the PLT.
 */
#ifndef FATHOM_DISAMBIG_DIRECT_CALL_H
#define FATHOM_DISAMBIG_DIRECT_CALL_H

#include "disambig/map_frames.h"
#include "image/calls/calls.h"

/* The function of the image that a call or jump leads to, directly or (`of->symbolic`) through the PLT;
 * IMAGE_NO_FUNCTION: unknown. */
uint32_t direct_call_target(const struct map_frames_of *of, const struct calls *calls,
                            const struct call_site *site);
/* The same for the call before a return address, which must be in this function of the image; 0: unknown. */
uint32_t direct_call_callee(const struct map_frames_of *of, const struct calls *calls, uint32_t caller,
                            uint64_t return_address);
/* Whether the call or jump has a 32-bit distance, with which it can reach any place in the file. */
bool direct_call_has_room(const struct image *image, const struct call_site *site);

#endif
