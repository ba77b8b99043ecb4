/*
 * text.h - text that others wrote, on its way to a terminal: symbol names, file paths, names of threads,
 * events and commands out of binaries, recordings and maps.
 *
 * A terminal obeys control characters (C0, DEL, C1), a log's reader trusts line ends, and bidirectional
 * controls make text look like other text. Whatever prints foreign text goes through this.
 */
#ifndef FATHOM_BASE_TEXT_H
#define FATHOM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point that begins here, of a text that ends with NUL; returns its bytes (1 for the NUL itself).
 * 0: no UTF-8 begins here (Unicode 15, table 3-7), and *code is not set. */
size_t text_character(const char *text, uint32_t *code);
/* Whether a terminal may get it as it is. */
bool text_shown(uint32_t code);
/* In place: each character that may not be shown, and each byte that is no UTF-8, becomes '?'. */
void text_clean(char *text);
/* A word of a command line as a shell needs it: as it is, or in quotes. Writes at most TEXT_QUOTED(length) bytes
 * with the NUL; returns how many, without it. */
#define TEXT_QUOTED(length) (4 * (length) + 3)
size_t text_quote(const char *word, char *out);
/* A file's name for a message, in which an empty one can be seen. */
const char *text_name(const char *name);

#endif
