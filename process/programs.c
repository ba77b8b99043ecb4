/* programs.c - see programs.h. */
#include "process/programs.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

struct entry {
    uint32_t parent, name, depth;
};

struct programs {
    struct entry *at; /* by number */
    uint32_t count, capacity;
    struct table *numbers; /* parent << 32 | name -> number */
};

struct programs *programs_new(void)
{
    struct programs *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->numbers = table_new();
    if (!p->numbers || !vec_push(p->at, p->count, p->capacity, ((struct entry){0}))) {
        programs_free(p);
        return NULL;
    }
    return p;
}

void programs_free(struct programs *p)
{
    if (!p)
        return;
    table_free(p->numbers);
    free(p->at);
    free(p);
}

uint32_t programs_add(struct programs *p, uint32_t parent, uint32_t name)
{
    bool added;
    if (p->at[parent].depth == PROGRAMS_DEEPEST)
        parent = p->at[parent].parent;
    uint64_t *number = table_put(p->numbers, (uint64_t)parent << 32 | name, &added);
    if (!number)
        return PROGRAMS_FAILED;
    if (added) {
        const struct entry entry = {parent, name, p->at[parent].depth + 1};
        *number = vec_push(p->at, p->count, p->capacity, entry) ? p->count - 1 : PROGRAMS_FAILED;
    }
    return (uint32_t)*number;
}

uint32_t programs_parent(const struct programs *p, uint32_t program)
{
    return p->at[program].parent;
}

uint32_t programs_name(const struct programs *p, uint32_t program)
{
    return p->at[program].name;
}

static bool set_program(struct programs *p, struct program *program, uint32_t parent, uint32_t name,
                        enum program_origin origin)
{
    uint32_t number = programs_add(p, parent, name);
    if (number == PROGRAMS_FAILED)
        return false;
    *program = (struct program){number, origin};
    return true;
}

static bool has_name(const struct programs *p, const struct program *program, uint32_t name)
{
    return program->number && p->at[program->number].name == name;
}

bool program_rename(struct programs *p, struct program *program, uint32_t name)
{
    if (has_name(p, program, name))
        return true;
    if (program->origin == PROGRAM_PARENTS)
        return set_program(p, program, program->number, name, PROGRAM_RENAMED);
    return set_program(p, program, p->at[program->number].parent, name, program->origin);
}

/* Names that a fork takes between fork and exec are dropped; a program that starts itself again is the same program. */
bool program_exec(struct programs *p, struct program *program, uint32_t name)
{
    if (program->origin == PROGRAM_RENAMED)
        return set_program(p, program, p->at[program->number].parent, name, PROGRAM_OWN);
    if (program->origin == PROGRAM_OWN && has_name(p, program, name))
        return true;
    return set_program(p, program, program->number, name, PROGRAM_OWN);
}
