/*
 * framing.h - builds a sample's path from frames of a report's table, from the root inwards: begin, append, end.
 *
 * A map's functions are looked up once. Functions return 0, or -ENOMEM or -EBADMSG (the map is damaged) with a message; the
 * path must then be started again.
 */
#ifndef FATHOM_PROFILE_FRAMING_H
#define FATHOM_PROFILE_FRAMING_H

#include "image/kernel/kernel_names.h"
#include "infer/contexts/resolver.h"
#include "profile/call_sites.h"
#include "profile/frames.h"
#include "profile/levels.h"

/* The default of `inlined`: docs/benchmarks.md has what reading this much costs. */
#define FRAMING_INLINED 65536

struct framing_options {
    struct levels levels; /* outermost frames */
    bool threads;         /* then each thread's name */
    /* Shows functions inlined at call sites and at the sampled instruction (inlined.h): KiB of debug information that may be
     * read for that, see image_cache_lines(). 0: they are not shown. */
    uint64_t inlined;
    bool lines;        /* their source lines; the debug information for these is always read */
    bool places;       /* instead of both, the instructions of calls and samples */
    bool script_lines; /* lines at least for functions that an interpreter runs */
    /* with functions that an interpreter runs: machine code only, or these functions only */
    bool native, script;
    bool calls;    /* samples are a function's calls: nothing is inlined at the end of a path */
    bool locks;    /* the lock, for waits for one */
    bool accesses; /* the accessed memory, and where the processor found it */
    /* Samples in the kernel end with its functions, named by this running kernel. Borrowed. NULL: they end with those of user
     * code */
    struct running_kernel *kernel;
    /* User registers were sampled: a kernel sample without these is of a kernel thread, below "[kernel]". */
    bool kernel_threads;
};

struct framing;

/* images is borrowed. NULL: out of memory. */
struct framing *framing_new(const struct framing_options *options, struct image_cache *images);
void framing_free(struct framing *framing);
/* Sets the map that functions refer to (borrowed). Call it once. */
int framing_use(struct framing *framing, const struct pathmap *map, struct fathom_error *err);
const struct frames *framing_frames(const struct framing *framing);

/* The item of a map's function; FRAMES_NONE: out of memory. */
uint32_t framing_item(struct framing *framing, uint32_t function);

int framing_begin(struct framing *framing, const struct process *process, const struct sample *sample,
                  struct fathom_error *err);
/* Appends the outermost `depth` functions of the node's path, or all if it has fewer; whose: its call sites. */
int framing_node(struct framing *framing, uint32_t node, uint32_t depth, enum path_sites whose,
                 struct fathom_error *err);
/* Which call sites the node of an answer has. */
enum path_sites framing_sites(const struct resolved *resolved);
/* Appends the node's own function. */
int framing_leaf(struct framing *framing, uint32_t node, struct fathom_error *err);
/* The item of a label for who ended a wait; FRAMES_NONE: out of memory. */
uint32_t framing_waker(struct framing *framing, const char *text);
/* Appends a label for uncertain callers. */
int framing_unsure(struct framing *framing, const char *text, struct fathom_error *err);
/* Appends functions by their numbers in the map. */
int framing_functions(struct framing *framing, const uint32_t *functions, size_t count,
                      struct fathom_error *err);
/* Appends an unknown context: what is known about the sample itself. */
int framing_unknown(struct framing *framing, const struct process *process, const struct sample *sample,
                    const struct resolved *resolved, struct fathom_error *err);
/* Ends the path, with the sample's source and the kernel's functions if requested; valid until the next path begins. */
int framing_end(struct framing *framing, const struct place *place, const struct process *process,
                const struct sample *sample, const uint32_t **items, size_t *count, struct fathom_error *err);
/* Whether cgroup levels are wanted, and no sample had a cgroup. */
bool framing_lacks_cgroups(const struct framing *framing);
/* Whether a sample's path continues in the kernel. */
bool framing_in_kernel(const struct framing *framing, const struct sample *sample);
/* Why functions of the kernel could not be named; KERNEL_NAMED: for no reason that concerns all of them. */
enum kernel_named framing_kernel_named(const struct framing *framing);

#endif
