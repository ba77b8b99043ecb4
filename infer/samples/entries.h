/*
 * entries.h - makes a trie from events at functions' entries: entries alone determine the whole call tree.
 *
 * Each stack of a thread has a shadow stack of the frames that were entered on it. At an entry, those whose CFA is at or below
 * the new one have returned. Others may have returned as well, if their caller has since grown its frame (alloca, pushed
 * arguments) or makes the call through code without events. So, as far as the sample's dump reaches, a frame is alive only
 * while its return address is still in place; and if the new return address is in a function on the shadow stack, that function
 * made the call.
 *
 * Lost records (RECORD_LOST) make shadow stacks doubtful: until a stack is back at its outermost frame, an entry counts only if
 * the return address confirms the caller, and nothing below one that does not.
 */
#ifndef FATHOM_INFER_SAMPLES_ENTRIES_H
#define FATHOM_INFER_SAMPLES_ENTRIES_H

#include "pathmap/map/trie.h"
#include "process/process.h"

struct entries;

struct entries_summary {
    uint64_t entered;
    uint64_t doubtful; /* entries whose caller is uncertain after a loss: ignored */
    uint64_t failed;   /* in no known function, on no known stack, or on one that is too deep: ignored */
    uint64_t lost;     /* records that the kernel dropped */
};

/* images, trie and log are borrowed. program (may be NULL): threads that are their process's first and whose first entry is in
 * it begin with its `_start`, which has no event. NULL: out of memory. */
struct entries *entries_new(struct image_cache *images, struct trie *trie, const struct image *program,
                            const struct log *log);
void entries_free(struct entries *entries);

/* An order_sink (context: the entries). A sample is an entry: IP anywhere in the function, SP as at its entry, and the dump, if
 * there is one, begins with the return address. */
int entries_learn(void *entries, const struct record *record, struct fathom_error *err);
struct entries_summary entries_summary(const struct entries *entries);

#endif
