/*
 * landing_pad.h - recognises landing pads by how they begin, where no LSDA lists them. Private to image/.
 *
 * Unwinders pass the exception in RAX, which a pad copies before anything sets it. No other code can begin like
 * this, as it would not know what is in RAX.
 */
#ifndef FATHOM_IMAGE_LANDING_PAD_H
#define FATHOM_IMAGE_LANDING_PAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool landing_pad_begins(const uint8_t *code, size_t size);

#endif
