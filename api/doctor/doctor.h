/* doctor.h - what is known of the machine, and the functions that add findings about each part of it. */
#ifndef FATHOM_API_DOCTOR_DOCTOR_H
#define FATHOM_API_DOCTOR_DOCTOR_H

#include "api/doctor/rows.h"
#include "collector/capability/facts.h"
#include "collector/capability/process_facts.h"
#include "collector/capability/tries.h"

struct doctor_machine {
    struct facts facts;
    struct tries tries;
    char cpu[256];          /* libpfm4's name; "": unknown */
    struct event precise;   /* tries_precise(); its attr.size is 0 if there is none */
    char self[4096];        /* this program's file; "": unknown, like the next */
    char self_quoted[4096]; /* the same, quoted for a shell */
    const char *runtime;    /* file of the training runtime; NULL: not found */
};

/* The kernel and the CPU, then hardware events. */
void doctor_hardware(const struct doctor_machine *machine, struct rows *rows);
bool doctor_has_pebs(const struct fact_cpu *cpu);
/* What this user may do, and its limits. */
void doctor_rights(const struct doctor_machine *machine, struct rows *rows);

/* A program; name: a path, or a command that is searched for in PATH. */
int doctor_program(const struct doctor_machine *machine, const char *name, struct rows *rows,
                   struct fathom_error *err);
/* A running process. */
int doctor_process(const struct doctor_machine *machine, pid_t pid, struct rows *rows,
                   struct fathom_error *err);

/* fathom_doctor_verdict(). */
int doctor_verdict(const struct rows *rows, const struct tries *tries);

#endif
