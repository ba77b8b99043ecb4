/*
 * entries.h - events at functions' entries into a trie: entries alone rebuild the whole call tree.
 *
 * Each stack of a thread has a shadow stack of the frames that were entered there. At an entry, those whose
 * CFA is at or below the new one have returned. Others can have returned as well, when their caller has grown
 * its frame since (alloca, pushed arguments) or calls by way of code that has no events: as far as the
 * sample's dump reaches, a frame is alive only while its return address is where it was, and when the new
 * return address lies in a function that is on the shadow stack, that one called.
 *
 * What was lost on the way (RECORD_LOST) makes shadow stacks doubtful: until a stack is back at its outermost
 * frame, an entry counts only where the return address confirms the caller, and nothing below one that does
 * not.
 */
#ifndef FATHOM_INFER_SAMPLES_ENTRIES_H
#define FATHOM_INFER_SAMPLES_ENTRIES_H

#include "pathmap/map/trie.h"
#include "process/process.h"

struct entries;

struct entries_summary {
    uint64_t entered;
    uint64_t doubtful; /* entries whose caller is not known for sure after a loss: left out */
    uint64_t failed;   /* in no known function, on no known stack, or with too deep a stack: left out */
    uint64_t lost;     /* records that the kernel dropped */
};

/* images, trie and log are borrowed. program (may be NULL): threads of which the first entry is in it and
 * that are their process's first begin with its `_start`, which has no event. NULL: out of memory. */
struct entries *entries_new(struct image_cache *images, struct trie *trie, const struct image *program,
                            const struct log *log);
void entries_free(struct entries *entries);

/* An order_sink (context: the entries). A sample is an entry: IP anywhere in the function, SP as at its
 * entry, and the dump, when there is one, begins with the return address. */
int entries_learn(void *entries, const struct record *record, struct fathom_error *err);
struct entries_summary entries_summary(const struct entries *entries);

#endif
