/*
 * unit.h - one function with its .cold parts and landing pads: its code, where SP is at each instruction, and
 * what must change for its frame to grow. Private to rewrite/.
 *
 * A unit is reused for one function after the other, with its memory.
 */
#ifndef FATHOM_REWRITE_GROWTH_UNIT_H
#define FATHOM_REWRITE_GROWTH_UNIT_H

#include "rewrite/growth/growth.h"
#include "rewrite/growth/whole.h"
#include "rewrite/pads.h"
#include "image/code/fields.h"

#define DEPTH_UNSEEN (-2)      /* no path reaches the instruction */
#define DEPTH_OPEN   (-1)      /* SP is not a known number of bytes below the CFA: alloca */
#define DEPTH_MOST   (1 << 28) /* bytes: more is not plausible */

/* The state before an instruction. */
struct frame_state {
    int32_t depth; /* CFA - SP, bytes, or DEPTH_ */
    int32_t bound; /* SP is below the pad's place, which is `bound` bytes below the CFA; 0: SP is above it */
    int32_t frame; /* CFA - BP, bytes; 0: unknown */
};

/* A number in the code that grows by the pad (sign 1) or shrinks by it (-1). */
struct frame_edit {
    uint64_t address; /* of the number's bytes */
    uint8_t size;     /* 1 or 4 bytes, signed */
    int8_t sign;
};

/* How the frame's pad is allocated or freed at an instruction. */
enum unit_site {
    SITE_NONE,
    SITE_NUMBER, /* by its number */
    SITE_BEFORE, /* by an instruction added before it, which jumps to it execute, too */
    SITE_AFTER,  /* by one after it */
};

struct unit_insertion {
    uint32_t insn;
    int8_t sign; /* 1: SP goes down by the pad, -1: up */
    bool after;  /* the instruction */
};

struct unit_landing { /* calls in [start, end) continue there if they throw */
    uint64_t start, end;
    uint32_t pad; /* instruction */
};

/* What the CFI says from this location on, besides the CFA. */
struct unit_point {
    uint64_t location;
    uint32_t named;  /* bit n: a register is saved at CFA - 16 - 8n */
    int32_t deepest; /* bytes from the CFA down to the deepest slot of a register; 0: none */
    uint32_t args;   /* DW_CFA_GNU_args_size, bytes */
};

/* A rule "CFA = SP + value" of an FDE. */
struct unit_rule {
    uint64_t location; /* where it begins to apply */
    uint32_t at;       /* offset of the number (ULEB128) in the FDE's instructions */
    uint32_t value;
    uint8_t length; /* of the number, bytes */
    bool grows;     /* by the pad */
};

struct unit_fde {
    const struct cfi_fde *fde;
    uint32_t first, count; /* its rules */
    uint32_t used;         /* bytes of its instructions before the padding */
};

struct unit {
    const struct whole *whole;
    uint32_t function;
    enum growth_refusal refusal;
    uint64_t where; /* of what was refused, or 0 */
    bool framed;    /* locals are addressed by BP, and are above the pad */
    bool by_bp;     /* the CFI gives the CFA by BP at least once */
    bool inserting; /* added instructions allocate or free the pad (inserted.c) */
    int32_t place;  /* if only pushes allocate the frame: the pad's place, bytes below the CFA. Else 0 */
    bool calls;     /* it has calls */
    uint32_t most;  /* bytes */
    struct function_part *parts;
    uint32_t part_count, part_capacity;
    struct function_code code;
    struct frame_state *states; /* by instruction */
    uint32_t state_capacity;
    struct frame_state hub; /* joined state at jumps through unknown tables */
    uint32_t *targets;      /* instructions that these jumps may lead to, ascending */
    size_t target_count, target_capacity;
    struct frame_edit *edits;
    size_t edit_count, edit_capacity;
    struct unit_insertion *insertions; /* ascending */
    size_t insertion_count, insertion_capacity;
    struct unit_landing *landings; /* ascending, disjoint */
    size_t landing_count, landing_capacity;
    struct unit_point *points; /* ascending */
    size_t point_count, point_capacity;
    struct unit_rule *rules;
    size_t rule_count, rule_capacity;
    struct unit_fde *fdes; /* ascending */
    size_t fde_count, fde_capacity;
    uint32_t *work, *later; /* instructions to follow; calls that may return */
    size_t work_count, work_capacity, later_count, later_capacity;
    uint8_t *scratch; /* an FDE's instructions with a pad */
    size_t scratch_capacity;
};

/* The whole analysis. 0 or -ENOMEM; u->refusal says whether the unit can be resized. If it cannot without added
 * instructions, u->inserting says whether it can with them, and all other results are for that. */
int unit_analyse(struct unit *u, const struct whole *whole, uint32_t function);
void unit_free(struct unit *u);
/* Only the code, its CFI and the states: u->refusal is GROWTH_RESIZABLE if these are known and agree, whatever
 * the frame is. 0 or -ENOMEM. */
int unit_follow(struct unit *u, const struct whole *whole, uint32_t function);

/* Whether the only problem is that larger numbers do not fit. */
static inline bool refusal_is_of_room(unsigned refusal)
{
    return refusal == GROWTH_RESIZABLE || refusal == GROWTH_NO_ROOM || refusal == GROWTH_NO_ROOM_CFI;
}

static inline bool unit_is_understood(const struct unit *u)
{
    return refusal_is_of_room(u->refusal);
}

/* Whether the frame could grow by added instructions. */
static inline bool refusal_is_of_pushes(unsigned refusal)
{
    return refusal == GROWTH_PUSHED || refusal == GROWTH_POPPED;
}

/* Only the first refusal counts. */
void unit_refuse(struct unit *u, enum growth_refusal refusal, uint64_t where);

/* The steps of the analysis, each run if the one before did not refuse. 0 or -ENOMEM. */
int unit_read(struct unit *u);       /* the code, its jumps and landing pads */
int unit_read_rules(struct unit *u); /* the CFI's bytes */
int unit_flow(struct unit *u);       /* the states, and the edits of instructions that allocate and free */
int unit_operands(struct unit *u);   /* the edits of operands addressed by SP */
int unit_rules(struct unit *u);      /* which rules grow */

/* Fills u->targets. 0 or -ENOMEM. */
int unit_targets(struct unit *u);
/* How an instruction is encoded; false: unknown. */
bool unit_fields(const struct unit *u, uint32_t insn, struct code_fields *fields);
/* Whether the instruction copies SP's (or BP's) value elsewhere, or compares it. */
bool unit_uses_register(const struct code_fields *fields, uint8_t number);
/* Records that a number changes with the pad: the displacement or else the immediate. 0 or -ENOMEM. */
int unit_edit(struct unit *u, uint32_t insn, bool displacement, int sign);
/* The CFI's point that applies at an address; NULL: none. */
const struct unit_point *unit_point_at(const struct unit *u, uint64_t address);
/* Whether all words between the return address and `depth` bytes below the CFA hold registers that the CFI names. */
bool unit_is_saved(const struct unit *u, uint64_t address, int32_t depth);
/* inserted.c: chooses the pad's place in a frame that is made by pushes. */
void unit_choose_place(struct unit *u);
/* For units with such a place: handles an instruction that moves SP to `next` bytes below the CFA, or sets BP to
 * that. Sets s->bound. false: refused. */
bool unit_insert(struct unit *u, uint32_t insn, int64_t next, struct frame_state *s, enum unit_site *site);
/* Records that an instruction is added there. 0 or -ENOMEM. */
int unit_note_insertion(struct unit *u, uint32_t insn, bool allocates, bool after);
/* Whether the pad is part of the frame while the instruction itself is executed. */
bool unit_has_pad(const struct unit *u, uint32_t insn);
/* Computes the state after an instruction that continues; false: refused. */
bool unit_step(struct unit *u, uint32_t insn, struct frame_state *state);

/* Encodes the FDE's instructions with a pad, in u->scratch: as many bytes as before. false: they do not fit.
 * -ENOMEM in *rc. */
bool unit_encode(struct unit *u, const struct unit_fde *fde, uint32_t pad, int *rc);

#endif
