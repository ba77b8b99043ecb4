/*
 * landing_pad.h - how landing pads begin, where no LSDA tells of them. Private to image/.
 *
 * Unwinders pass the exception in RAX, which a pad copies before anything sets it. What else begins there does not know what is in RAX.
 */
#ifndef FATHOM_IMAGE_LANDING_PAD_H
#define FATHOM_IMAGE_LANDING_PAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool landing_pad_begins(const uint8_t *code, size_t size);

#endif
