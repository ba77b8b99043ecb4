/*
 * members.h - the processes, or the threads, that are recorded: events per CPU tell of all others too.
 */
#ifndef FATHOM_COLLECTOR_MEMBERS_H
#define FATHOM_COLLECTOR_MEMBERS_H

#include <stdbool.h>
#include <sys/types.h>

struct members;

/* threads: members are threads, else processes. NULL: out of memory. */
struct members *members_new(bool threads);
void members_free(struct members *members);
/* One that is recorded, whenever it ends. false: out of memory. */
bool members_add(struct members *members, pid_t pid, pid_t tid);
/* A thread or process started that is recorded. Told again before it ended, it counts once. false: out of
 * memory. */
bool members_start(struct members *members, pid_t pid, pid_t tid);
/* A thread ended. It stays until the round is over, in which samples of it may still come; a process until
 * its last thread has ended. */
void members_end(struct members *members, pid_t pid, pid_t tid);
void members_round(struct members *members);
bool members_has(const struct members *members, pid_t pid, pid_t tid);

#endif
