/*
 * survey.h - what moving a function requires to know about the rest of its image: what else leads into it, and
 * where its pointers are. Private to move/.
 */
#ifndef FATHOM_REWRITE_MOVE_SURVEY_H
#define FATHOM_REWRITE_MOVE_SURVEY_H

#include "rewrite/move/move.h"
#include "image/cfi/frames.h"
#include "image/image_private.h"

enum {
    SURVEY_ENTERED = 1, /* outside code, or a symbol, leads to the function's middle */
    SURVEY_POINTED = 2, /* a pointer that cannot be re-pointed leads there */
    SURVEY_TAKEN = 4,   /* code or data other than its symbol has its entry's address */
    SURVEY_FIXED = 8,   /* so does something that cannot be changed (addresses.c) */
};

/* Section numbers that must be left for the added ones, or symbols are not changed (output.c). */
#define SURVEY_NEW_SECTIONS 4u

/* A data word with an address in the middle of a function or, in the notes of probes, anywhere in it. */
struct survey_label {
    uint64_t value;
    uint64_t place;  /* address of the word */
    uint64_t offset; /* in the file, of the 8 bytes with the value: the word's, or its relocation's */
    uint32_t function;
    bool likely; /* only its value looks like an address */
    bool probe;  /* the note of a SystemTap probe */
};

/* A data word that is relocated to an entry's address. */
struct survey_pointer {
    uint64_t value;
    uint64_t offset; /* as in survey_label */
};

struct move_survey {
    const struct image *image;
    const struct elf_file *file;
    uint8_t *data; /* the whole file */
    size_t size;
    struct cfi_frames cfi;
    uint32_t *parts, *first;     /* functions by owner, then address; each owner's first, and the end */
    uint8_t *marks;              /* SURVEY_, by function (owner) */
    struct survey_label *labels; /* by function, then place */
    size_t label_count, label_capacity;
    struct survey_pointer *pointers;
    size_t pointer_count, pointer_capacity;
    uint64_t *objects; /* data addresses that code refers to, ascending */
    size_t object_count, object_capacity;
    const struct elf_section *text; /* .text; NULL: none */
    bool addresses;                 /* functions can get new addresses */
};

/* Reads the program header with this number; false: none. */
bool survey_segment(const struct move_survey *survey, size_t index, Elf64_Phdr *out);
bool survey_section(const struct move_survey *survey, size_t index, Elf64_Shdr *out);

/* Constant data at an address: neither code nor writable. NULL: none there. */
const uint8_t *survey_constants(const struct move_survey *survey, uint64_t address, size_t *size);
/* The first known data object above the address; UINT64_MAX: none. */
uint64_t survey_next_object(const struct move_survey *survey, uint64_t address);
/* The FDE that begins there, or NULL. */
const struct cfi_fde *survey_fde(const struct move_survey *survey, uint64_t address);
/* Notes a reference to this address, in case it is a function's entry. */
void survey_take(struct move_survey *survey, uint64_t address);
/* The same for one that cannot be changed. */
void survey_fix(struct move_survey *survey, uint64_t address);
/* Whether all references to this entry are changed to the function's first copy if it is moved. */
bool survey_follows(const struct move_survey *survey, uint64_t address);
/* addresses.c: call when everything else is known. */
void survey_addresses(struct move_survey *survey);
/* The labels of a function. */
size_t survey_labels(const struct move_survey *survey, uint32_t function, const struct survey_label **out);

/* pointers.c: notes pointers in data to functions and to the middle of functions. 0 or -ENOMEM. */
int survey_pointers(struct move_survey *survey);
/* Whether the address is in the middle of a function; *function: its owner. */
bool survey_inside(const struct move_survey *survey, uint64_t address, uint32_t *function);

#endif
