/* faults.h - counts the impossible paths found by what is wrong with them. */
#ifndef FATHOM_TESTS_CHECKER_FAULTS_H
#define FATHOM_TESTS_CHECKER_FAULTS_H

#include <stdio.h>

#include "tests/checker/judge.h"

struct faults;

struct faults *faults_new(void); /* NULL: out of memory */
void faults_free(struct faults *faults);
/* 0 or -ENOMEM. */
int faults_add(struct faults *faults, const struct verdict *verdict, const struct function *path,
               size_t depth);
/* Prints the most frequent ones first, each with the first path that had it. */
void faults_write(const struct faults *faults, size_t most, FILE *out);

#endif
