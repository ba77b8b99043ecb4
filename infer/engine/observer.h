/*
 * observer.h - follows the records of a recording in order of time, after learning: what each sample is to the
 * steps that come then, and what its process, its thread and its setting are at that moment.
 *
 * The same records can be followed again and again: observer_begin() goes back to before the first.
 */
#ifndef FATHOM_INFER_ENGINE_OBSERVER_H
#define FATHOM_INFER_ENGINE_OBSERVER_H

#include "infer/engine/learn.h"
#include "infer/samples/run_time.h"
#include "infer/samples/settings.h"

struct observer {
    struct image_cache *images; /* borrowed, like the next four */
    const struct log *log;
    struct learner *learner;
    const struct event *events;
    uint32_t event;              /* the number of the one to resolve */
    bool times;                  /* how long threads ran is needed */
    bool own_dumps;              /* engine_options.own_dumps */
    struct settings *settings;   /* of the samples; those that were met stay */
    struct processes *processes; /* at the moment; NULL before observer_begin() */
    struct run_times *run_times;
    size_t own_at; /* in the learner's list */
};

/* What a record means. */
struct observed {
    bool sample;     /* of the event to resolve, or an audit sample that was held back */
    uint32_t anchor; /* an audit sample's path, a node of the trie; TRIE_NONE: no anchor */
    uint32_t own;    /* the same for another sample with a dump, where it is to be used */
    struct process *process;
    struct run_time run; /* the strand, and how long it ran if that is needed */
    uint32_t setting;
};

bool observer_init(struct observer *observer); /* the rest is filled in. false: out of memory */
void observer_clear(struct observer *observer);
int observer_begin(struct observer *observer, struct fathom_error *err);
/* Applies a record. A sample's stack gets the base that earlier steps found. 0 or negative. */
int observer_take(struct observer *observer, const struct record *record, struct observed *out,
                  struct fathom_error *err);
/* Opens a file that a process with samples maps: paths can begin in the program or the C library even if no
 * sample fell there. For records of mappings. */
void observer_open_mapped(const struct observer *observer, const struct record *record);

#endif
