/*
 * shadow.h - a shadow stack: where in a process' memory return addresses are, as its call and return instructions put and took them.
 *
 * A slot is the address of a return address. All stacks of the process are in one: a slot says which.
 */
#ifndef FATHOM_TESTS_ORACLE_SHADOW_H
#define FATHOM_TESTS_ORACLE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow_entry {
    uint64_t slot, return_address;
};

struct shadow {
    struct shadow_entry *entries; /* the highest slot first */
    size_t count, capacity;
};

/* Out of memory ends the program. */
void shadow_push(struct shadow *shadow, uint64_t slot, uint64_t return_address);
/* Removes the slots in [low, high). */
void shadow_drop(struct shadow *shadow, uint64_t low, uint64_t high);
/* The lowest at or above an address; NULL: none. The next is the one before it in the array. */
const struct shadow_entry *shadow_above(const struct shadow *shadow, uint64_t address);

#endif
