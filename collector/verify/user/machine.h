/*
 * machine.h - simulates the kernel in user space, for the BPF program and the code that fills its maps: user
 * memory with unmapped parts, and a ring for stack records that may be full. The program is the same code,
 * compiled for user space; its variables are global, so there is one machine at a time.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_USER_MACHINE_H
#define FATHOM_COLLECTOR_VERIFY_USER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/verify/known_stacks.h"
#include "collector/verify/rule.h"
#include "collector/verify/verify_wire.h"

#define MACHINE_CPUS 2

struct machine_memory {
    uint64_t start;
    size_t size;
    const uint8_t *bytes;
};

/* A file's code in the running process. */
struct machine_mapping {
    uint64_t start, size;
    uint64_t inode, page; /* as in struct stack_file; inode 0: it is in no file */
};

struct machine_record {
    struct stack_record head; /* its size: bytes of the stack */
    uint32_t more_at;         /* stack_parts.h */
    uint8_t *stack;
    size_t written; /* bytes of the record */
    uint32_t left_out,
        rest_at; /* where in the stack the middle begins and ends, of which only repeated words are written */
    uint32_t switch_at;         /* stack_parts.h */
    struct stack_code code;     /* of a stack that was read */
    struct stack_placed placed; /* of a known stack that was read elsewhere; count 0: it was not */
    uint64_t placed_files[STACK_PLACED_MAX];
    uint64_t outer_at; /* address of its outermost bytes, which follow those of the stack; 0: none */
};

struct machine_sample {
    uint32_t cpu, pid, tid, user;
    uint64_t cgroups[3]; /* the cgroups it is in, by level */
    uint64_t ip, sp, bp;
    const uint8_t *registers;  /* the others, as in a stack record; NULL: they are 0 */
    uint64_t late_ip, late_sp; /* of a precise one: where the interrupt came */
};

struct machine {
    struct verify_config config;
    uint64_t now; /* ns */
    /* The memory of the process that runs. */
    const struct machine_memory *memory;
    size_t memory_count;
    const struct machine_mapping *mappings; /* likewise */
    size_t mapping_count;                   /* 0: the program cannot tell files apart */
    uint64_t exec,
        code; /* numbers that change when the process executes another program, or maps more or less code */
    uint64_t start_stack;                            /* its first thread's base; 0: none */
    uint32_t found;                                  /* number of lookups of mappings */
    const void *task;                                /* what config.hooks are offsets in */
    bool (*ring_full)(void *context, uint64_t size); /* NULL: never */
    bool (*told_full)(void *context);                /* whether `told` is full; NULL: never */
    bool no_memory;                                  /* the maps take no more known stacks */
    void *context;
    bool out_of_memory; /* this process ran out of memory: results since then may be wrong */
    /* The output for the last sample. */
    struct machine_record records[4 + STACK_RECORD_MORES];
    size_t record_count;
};

/* 0 or -ENOMEM. */
int machine_start(struct machine *machine, const struct verify_config *config);
void machine_stop(void);
/* For known_stacks_new(). */
struct known_stacks_maps machine_maps(void);
void machine_set_base(uint32_t tid, uint64_t base); /* 0: forgotten */
void machine_follow(uint32_t id, bool follow);
/* Sets the space of the process's known stacks. */
void machine_place(uint32_t pid, uint32_t space);
void machine_number(const struct stack_file *file, uint32_t number);
void machine_rows(const struct code_rows_key *key, const struct code_rows *rows);
uint32_t machine_space(uint32_t pid); /* 0: nowhere */
/* Sets the bytes of stacks that fit into the CPU's ring; initially unlimited. */
void machine_room(uint32_t cpu, int64_t bytes);
/* A thread of a process starts another thread, or a process. */
void machine_fork(uint32_t pid, uint32_t tid, uint32_t child, bool thread);
bool machine_follows(uint32_t id);
uint64_t machine_base(uint32_t tid); /* 0: unknown */
/* Forgets one announcement, as the kernel does with the least recently used one. */
void machine_evict(uint32_t number);
size_t machine_known(void);
/* Runs the program and returns its result. */
int machine_sample(const struct machine_sample *sample);
int machine_sample_precise(const struct machine_sample *sample); /* the program for precise events */
struct verify_counts machine_counts(void);

#endif
