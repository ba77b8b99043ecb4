/*
 * text.h - makes untrusted text safe for a terminal: symbol names, file paths, names of threads, events and
 * commands from binaries, recordings and maps.
 *
 * Terminals obey control characters (C0, DEL, C1), log readers trust line breaks, and bidirectional controls
 * disguise text. All untrusted text is printed through this.
 */
#ifndef FATHOM_BASE_TEXT_H
#define FATHOM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of a NUL-terminated text; returns its length in bytes (1 for the NUL
 * itself). 0: invalid UTF-8 (Unicode 15, table 3-7), and *code is not set. */
size_t text_character(const char *text, uint32_t *code);
/* Whether it may be printed as is. */
bool text_shown(uint32_t code);
/* Whether it has characters, all of which are shown, and none of which is a space. */
bool text_is_word(const char *text);
/* In place: each unprintable character, and each byte of invalid UTF-8, becomes '?'. */
void text_clean(char *text);
/* Quotes a word of a command line for a shell if necessary. Writes at most TEXT_QUOTED(length) bytes with the
 * NUL; returns the length without it. */
#define TEXT_QUOTED(length) (4 * (length) + 3)
size_t text_quote(const char *word, char *out);
/* The reverse: splits a line of quoted words, separated by one space each, in place. words: needs space for
 * one more than the line has spaces; returns the number of words. */
size_t text_words(char *line, char **words);
/* A file's name for a message; makes an empty one visible. */
const char *text_name(const char *name);

#endif
