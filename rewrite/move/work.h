/*
 * work.h - a new segment under construction: buffers whose addresses are not known yet, fixes for when they are,
 * and the copies in them. Private to move/.
 */
#ifndef FATHOM_REWRITE_MOVE_WORK_H
#define FATHOM_REWRITE_MOVE_WORK_H

#include "rewrite/move/unit.h"

enum {               /* the order is that of the segment */
       BUFFER_START, /* code executed first */
       BUFFER_HOT,
       BUFFER_COLD,
       BUFFER_FAR,    /* copies that others rarely lead to */
       BUFFER_DATA,   /* jump tables, exception tables */
       BUFFER_FRAMES, /* .eh_frame */
       BUFFER_INDEX,  /* .eh_frame_hdr */
       BUFFERS
};

struct move_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    uint64_t address; /* once placed */
};

struct move_place { /* a place in a buffer */
    uint32_t buffer, offset;
};

enum move_fix_kind {
    FIX_FAR,      /* distance of 4 bytes to the address `target` */
    FIX_FUNCTION, /* the same to a copy of the function at `target`, or to the function if it is not moved */
    FIX_PLACE,    /* the same to a place */
    FIX_PLACE_4,  /* the place's address in 4 bytes */
    FIX_SPOT_8,   /* the place's address in 8 bytes */
    FIX_CODE,     /* distance to an instruction in a copy, */
    FIX_ENTRY,    /* or into the code added before it, at an offset */
};

struct move_fix {
    struct move_place at;
    struct move_place
        to; /* FIX_FUNCTION, FIX_CODE, FIX_ENTRY: offset is the copy's number; FIX_ENTRY: buffer is the offset in the
             * code */
    uint64_t target;
    int32_t from; /* distances are measured from `at` + this */
    uint8_t kind;
};

/* A part of a copy. */
struct move_piece {
    uint64_t address; /* of the old part */
    uint32_t old_size, size;
    struct move_place place;
    const struct cfi_fde *fde;
    size_t program, program_size; /* its CFI, in `programs` */
    uint32_t lsda;                /* offset in BUFFER_DATA, or NO_LSDA */
    uint32_t copy;
};

#define NO_LSDA UINT32_MAX

struct move_copy {    /* emitted */
    uint64_t address; /* of the old entry */
    uint32_t number;
    uint32_t function;     /* in the image */
    uint32_t first, count; /* pieces */
    struct move_place entry;
};

struct work_run {
    struct move_run run; /* `to` is an offset in the buffer */
    uint32_t buffer;
};

struct work_return {
    struct move_return at; /* `to` is an offset in the buffer */
    uint32_t buffer;
};

/* All guards of a plan, by site, copy of the caller, target. */
struct move_guards {
    struct move_guard *items;
    size_t count;
};

struct frames_entry { /* an FDE */
    uint64_t pc, size;
    uint64_t at, cie; /* offsets in BUFFER_FRAMES */
};

struct move_work {
    const struct move_survey *survey;
    const struct move_plan *plan;
    struct move_buffer buffers[BUFFERS];
    struct move_fix *fixes;
    size_t fix_count, fix_capacity;
    struct move_copy *copies; /* by address, then number */
    size_t copy_count, copy_capacity;
    struct move_piece *pieces;
    size_t piece_count, piece_capacity;
    uint8_t *programs;
    size_t program_count, program_capacity;
    struct work_run *runs;
    size_t run_count, run_capacity;
    struct move_call *calls;   /* of the plan, by site, then copy */
    struct move_guards guards; /* of the plan */
    struct work_return *returns;
    size_t return_count, return_capacity;
    struct frames_entry *entries; /* of the new .eh_frame */
    size_t entry_count, entry_capacity;
    uint32_t *tables; /* of the first copy of the function being emitted: offsets in BUFFER_DATA */
    uint32_t table_capacity;
    uint64_t *repointed; /* pairs of words: a label's file offset, and its place */
    size_t repointed_count, repointed_capacity;
};

/* The sizes of all buffers, to undo what is appended later. */
struct move_extent {
    size_t buffers[BUFFERS];
    size_t fixes, copies, pieces, programs, runs, returns, repointed;
};
struct move_extent move_extent_of(const struct move_work *work);
void move_cut_back(struct move_work *work, const struct move_extent *to);
/* Appends n bytes (of `data`, or zeroes) and returns their offset; SIZE_MAX: out of memory. */
size_t move_append(struct move_buffer *buffer, const void *data, size_t n);
/* Pads with zeroes until the offset equals `like` modulo a power of two. */
bool move_align(struct move_buffer *buffer, uint64_t like, size_t modulus);
bool move_fix(struct move_work *work, const struct move_fix *fix);
bool move_note_return(struct move_work *work, const struct move_return *at, uint32_t buffer);
/* Applies all fixes; the buffers must have their addresses, and the result its runs. -EOVERFLOW: out of reach;
 * -EINVAL: code should lead to a copy that could not be made. */
int move_fix_all(struct move_work *work, const struct move_result *result);
/* Finds a copy; NULL: the function is not moved. */
const struct move_copy *move_copy_find(const struct move_work *work, uint64_t address, uint32_t number);
/* Orders calls by site, then copy. */
int move_call_compare(const void *a, const void *b);
/* A sorted copy of the plan's calls; the caller frees it. NULL: out of memory. */
struct move_call *move_calls_sort(const struct move_plan *plan);
/* The plan's entry for a direct call or jump; copy 0 and no target: none. */
struct move_call move_call_find(const struct move_work *work, uint64_t site, uint32_t in);
uint64_t move_place_address(const struct move_work *work, struct move_place place);

/* Where an instruction is in its part of a copy. */
struct layout_insn {
    uint32_t entry, body;  /* offsets: of the code added before it, and of the instruction */
    uint8_t before, after; /* bytes of the code added before and after it */
    uint8_t size;          /* of the instruction with its guards */
    bool wide;             /* its distance of one byte must become four */
};

struct move_layout { /* of a copy */
    const struct move_unit *unit;
    const struct move_function *plan;
    const struct move_guards *guards; /* NULL: none */
    uint32_t number;                  /* of the copy */
    struct layout_insn *insns;
    uint32_t capacity;
    uint32_t *part_sizes;
    uint32_t part_capacity;
    bool bad; /* an edit does not fit */
};

/* layout.c: 0 or -ENOMEM. */
int move_layout_make(struct move_layout *layout, const struct move_unit *unit,
                     const struct move_function *plan);
void move_layout_free(struct move_layout *layout);
/* The instruction's bytes with its edits, without its distances; returns their number, 0: an edit does not fit. */
unsigned move_layout_encode(const struct move_layout *layout, uint32_t insn, uint8_t out[16]);
/* guards.c: a sorted copy of the plan's guards. -EINVAL: two lead one pointer to different copies; -ENOMEM. */
int move_guards_sort(const struct move_plan *plan, struct move_guards *out);
/* The guards of one call. */
size_t move_guards_of(const struct move_guards *guards, uint64_t site, uint32_t in,
                      const struct move_guard **first);
/* The number of bytes of an instruction's guards; `call`: its own bytes, with its edits. 0: it has none; more
 * than UINT8_MAX: they do not fit. */
unsigned move_guards_size(const struct move_layout *layout, uint32_t insn, const uint8_t *call,
                          unsigned length);
/* Appends the instruction's guards to a buffer, at whose end the first one begins. */
bool move_guards_put(struct move_work *work, const struct move_layout *layout, uint32_t insn,
                     const uint8_t *call, unsigned length, uint32_t buffer);
/* A call in a new file whose guards are checked. */
struct move_guards_check {
    const struct move_survey *survey;
    const struct image *after;
    const struct move_result *result;
    const struct move_guards *guards;
    const struct code_insn *old, *new;
    uint32_t copy; /* the copy that it is in */
};
/* Checks that the call's guards, which begin at an address of the new file, are those of the plan, and that
 * nothing else comes before the call. Returns the difference; NULL: none. */
const char *move_guards_check(const struct move_guards_check *check, uint64_t start);
/* codes.c: the plan's codes before one instruction, and the bytes of all of them. */
size_t move_codes_of(const struct move_function *plan, uint64_t address, const struct move_code **first,
                     unsigned *bytes);
/* Appends these to a buffer. */
bool move_codes_put(struct move_work *work, const struct move_function *plan, uint64_t address,
                    uint32_t buffer);
/* Checks that the code at an address of the new file is what the plan inserts before an instruction. Returns the
 * difference; NULL: none. */
const char *move_codes_check(const struct image *after, const struct move_result *result,
                             const struct move_function *plan, uint64_t address, uint64_t at);
/* How many bytes lower SP is at an offset in the inserted code. */
uint32_t move_codes_low(const struct move_function *plan, uint64_t address, unsigned offset);
/* The sum of what is added to SP before or after the instruction. */
int32_t move_layout_lea(const struct move_layout *layout, uint32_t insn, enum move_what what);
/* Encodes lea value(%rsp),%rsp; returns its length. out may be NULL. */
unsigned move_lea(int32_t value, uint8_t *out);
/* Whether it is a branch within the function with a distance of one byte. */
bool move_is_short(const uint8_t *bytes, unsigned length, const struct code_insn *insn);
/* The offset in its part of an old address that is a boundary of instructions; `body`: behind the code added
 * before the instruction. UINT32_MAX: no boundary. */
uint32_t move_layout_boundary(const struct move_layout *layout, uint32_t part, uint64_t address, bool body);

/* emit.c: appends one copy; *refusal: why it could not be. 0 or -ENOMEM. */
int move_emit(struct move_work *work, struct move_layout *layout, enum move_refusal *refusal);

/* start.c: emits the plan's code that is executed first, after everything else. -ENOMEM; -ENOTSUP: nothing in the
 * file can start it. */
int move_start_put(struct move_work *work);
/* Makes the new file start it, once it is placed. */
void move_start_set(const struct move_work *work, uint8_t *elf);

/* cfa.c: translates the part's CFI; false: not understood (*rc 0) or out of memory. */
bool move_cfa(struct move_work *work, const struct move_layout *layout, uint32_t part,
              struct move_piece *piece, int *rc);
/* lsda.c: the same for its exceptions. `places`: of the parts. */
bool move_lsda(struct move_work *work, const struct move_layout *layout, uint32_t part,
               struct move_piece *piece, int *rc);

/* frames.c: the new .eh_frame and .eh_frame_hdr, for buffers that have their addresses. */
int move_frames(struct move_work *work, struct fathom_error *err); /* -ENOTSUP: not understood */
int move_index(struct move_work *work, struct fathom_error *err);

/* sites.c: re-points direct calls and jumps in code that stays, and writes jumps to old entries. `elf`: the file
 * with its old size. 0 or -EOVERFLOW. */
int move_sites(const struct move_work *work, uint8_t *elf, uint64_t *repointed);

/* output.c: assembles the new file. 0, -ENOMEM or -ENOTSUP. */
struct move_output {
    uint8_t *bytes;
    size_t size;
    uint64_t address, offset; /* of the segment */
    uint64_t base;            /* address of the file's first byte */
    bool move_headers;        /* the program headers move to the segment's start */
    size_t header_bytes;      /* room for them */
};
/* Decides the segment's address and file offset. */
int move_output_plan(const struct move_survey *survey, struct move_output *out, struct fathom_error *err);
/* `bytes` is the old file with changed code; it is replaced. */
int move_output_write(const struct move_work *work, struct move_output *out, struct fathom_error *err);

/* symbols.c: the section headers and names, with the new ones. Appends to out->bytes and changes the headers. 0
 * or -ENOMEM. */
struct move_sections {
    Elf64_Shdr *items;
    size_t count, capacity;
    size_t names; /* index of the section names' table */
};
int move_symbols(const struct move_work *work, const struct move_output *out, struct move_buffer *file,
                 struct move_sections *sections);

#endif
