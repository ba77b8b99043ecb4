/*
 * process_shares.h - the share of the weight that processes of each name have: for the heading of a recording of many
 * processes.
 */
#ifndef FATHOM_PROFILE_PROCESS_SHARES_H
#define FATHOM_PROFILE_PROCESS_SHARES_H

#include <stddef.h>
#include <stdint.h>

struct process_shares;

struct process_share {
    const char *name; /* as recorded; owned by the shares. "": unknown */
    uint64_t weight;
};

struct process_shares *process_shares_new(void); /* NULL: out of memory */
void process_shares_free(struct process_shares *shares);
/* 0 or -ENOMEM. */
int process_shares_add(struct process_shares *shares, const char *name, uint64_t weight);
/* The heaviest names, at most `most`, equal ones sorted by name. Returns how many; *others: how many are left. */
size_t process_shares_heaviest(const struct process_shares *shares, struct process_share *out, size_t most,
                               size_t *others);

#endif
