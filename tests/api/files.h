/*
 * files.h - a directory of a test's own, with files as another machine's /proc and /sys have them.
 */
#ifndef FATHOM_TESTS_API_FILES_H
#define FATHOM_TESTS_API_FILES_H

/* Its path, while a test runs. */
extern char files_root[64];

void files_begin(void);
/* Writes a file and the directories above it. */
void files_put(const char *name, const char *text);
void files_end(void);

#endif
