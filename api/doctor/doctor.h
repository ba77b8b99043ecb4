/*
 * doctor.h - what is examined, and the parts that make findings of it.
 */
#ifndef FATHOM_API_DOCTOR_DOCTOR_H
#define FATHOM_API_DOCTOR_DOCTOR_H

#include "api/doctor/rows.h"
#include "collector/capability/facts.h"
#include "collector/capability/process_facts.h"
#include "collector/capability/tries.h"

struct doctor_machine {
    struct facts facts;
    struct tries tries;
    char cpu[256];        /* libpfm4's name; "": unknown to it */
    struct event precise; /* tries_precise(); its attr.size is 0 without */
    char self[4096];      /* this program's file, as a shell takes it; "": unknown */
    const char *runtime;  /* of training, its file; NULL: not found */
};

/* Kernel and CPU, then hardware events. */
void doctor_hardware(const struct doctor_machine *machine, struct rows *rows);
bool doctor_has_pebs(const struct fact_cpu *cpu);
/* What this user may do, and its limits. */
void doctor_rights(const struct doctor_machine *machine, struct rows *rows);

/* A program, by its name as a shell takes it. */
int doctor_program(const struct doctor_machine *machine, const char *name, struct rows *rows,
                   struct fathom_error *err);
/* A running process. */
int doctor_process(const struct doctor_machine *machine, pid_t pid, struct rows *rows,
                   struct fathom_error *err);

/* fathom_doctor_verdict(). */
int doctor_verdict(const struct rows *rows, const struct tries *tries);

#endif
