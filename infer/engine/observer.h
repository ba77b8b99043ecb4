/*
 * observer.h - follows the observations of a recording, after learning: determines what each sample is for in the later steps,
 * and its process, thread and setting at that moment.
 *
 * The same records can be followed repeatedly: observer_begin() restarts before the first.
 */
#ifndef FATHOM_INFER_ENGINE_OBSERVER_H
#define FATHOM_INFER_ENGINE_OBSERVER_H

#include "infer/engine/held_out.h"
#include "infer/engine/learn.h"
#include "infer/samples/run_time.h"
#include "infer/samples/settings.h"

struct observer {
    struct image_cache *images; /* borrowed, like the next four */
    const struct log *log;
    struct learner *learner;
    struct image_calls *calls; /* of the images */
    const uint32_t *copies;    /* the learner's nodes -> those of another trie; NULL: no other trie is used */
    struct function_numbers *numbers; /* for the trie */
    uint32_t event;                   /* number of the event to resolve */
    bool folded;                      /* `fold` holds out stacks */
    unsigned fold;
    bool times;                  /* threads' run times are needed */
    bool own_dumps;              /* engine_options.own_dumps */
    struct settings *settings;   /* of the samples; persist across passes */
    struct processes *processes; /* current; NULL before observer_begin() */
    struct run_times *run_times;
};

/* How to treat a record. */
struct observed {
    bool sample;        /* of the event to resolve, or a held-back audit sample */
    uint32_t true_path; /* an audit sample's path, a node of the trie; TRIE_NONE: no true path */
    uint32_t own;       /* the same for a non-audit sample with a dump, if it may be used */
    struct process *process;
    struct run_time run; /* the thread's key, and its run time if needed */
    uint32_t setting;
};

bool observer_init(struct observer *observer); /* the caller sets the other fields. false: out of memory */
void observer_clear(struct observer *observer);
int observer_begin(struct observer *observer, struct fathom_error *err);
/* Applies an observation. A sample's stack gets the base that earlier steps found. 0 or negative. */
int observer_take(struct observer *observer, const struct observation *observation, struct observed *out,
                  struct fathom_error *err);
/* For mapping records: opens a file mapped by a process with samples. Paths can begin in the program or the C library even if
 * no sample is there. */
void observer_open_mapped(const struct observer *observer, const struct record *record);

#endif
