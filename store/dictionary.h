/*
 * dictionary.h - the contexts that batches count, and their frames, with identities that are the same on
 * every machine. A frame is identified by a hash of its kind, its file's name and its own name; a context by
 * a hash of its caller's and its frame's. Build-ids are not included, so that two builds share contexts.
 * Hashes are XXH3, 64 bits; the two lowest bits of a context's are 0, for engines to use. Among 10 million
 * contexts two collide with a probability of 1 in 100,000, and would then be counted as one.
 */
#ifndef FATHOM_STORE_DICTIONARY_H
#define FATHOM_STORE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#define DICTIONARY_NONE UINT32_MAX

struct dictionary;

struct dictionary_frame {
    uint64_t hash;
    uint8_t kind; /* a number of kind.h */
    const char *image, *name;
};

struct dictionary_context {
    uint64_t hash;
    uint32_t caller; /* number of another context, which is smaller; DICTIONARY_NONE: there is none */
    uint32_t frame;
};

struct dictionary *dictionary_new(void); /* NULL: out of memory */
void dictionary_free(struct dictionary *dictionary);
/* Return numbers from 0 on, the same for the same arguments. Texts are copied, and cut at STORE_FRAME_MOST.
 * DICTIONARY_NONE: out of memory. */
uint32_t dictionary_frame(struct dictionary *dictionary, uint8_t kind, const char *image, const char *name);
uint32_t dictionary_context(struct dictionary *dictionary, uint32_t caller, uint32_t frame);

size_t dictionary_frames(const struct dictionary *dictionary, const struct dictionary_frame **out);
size_t dictionary_contexts(const struct dictionary *dictionary, const struct dictionary_context **out);

#endif
