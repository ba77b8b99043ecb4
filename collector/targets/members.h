/*
 * members.h - the processes, or the threads, that are recorded: events per CPU deliver samples of all others
 * too, which are dropped.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_MEMBERS_H
#define FATHOM_COLLECTOR_TARGETS_MEMBERS_H

#include <stdbool.h>
#include <sys/types.h>

struct members;

/* threads: members are threads, else processes. NULL: out of memory. */
struct members *members_new(bool threads);
void members_free(struct members *members);
/* Adds one that stays a member even after its end is reported. false: out of memory. */
bool members_add(struct members *members, pid_t pid, pid_t tid);
/* A recorded thread or process started; a second call before its end has no effect, except that a number which another process
 * uses now is no longer the first one's. false: out of memory. */
bool members_start(struct members *members, pid_t pid, pid_t tid);
/* A thread ended. It stays a member until members_round(), as samples of it may still come in this round; a
 * process stays until its last thread has ended. Returns whether it ends with this thread. */
bool members_end(struct members *members, pid_t pid, pid_t tid);
void members_round(struct members *members);
/* The number by which members are looked up: the TID or the PID. */
pid_t members_id(const struct members *members, pid_t pid, pid_t tid);
bool members_has(const struct members *members, pid_t pid, pid_t tid);

#endif
