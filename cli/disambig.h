/* disambig.h - one run of `fathom disambig`: what was asked for, and what its steps have found so far. */
#ifndef FATHOM_CLI_DISAMBIG_H
#define FATHOM_CLI_DISAMBIG_H

#include "base/outfile.h"
#include "cli/terminal.h"
#include "disambig/clone/clone.h"
#include "disambig/map_frames.h"
#include "disambig/measured.h"
#include "disambig/search/pads.h"
#include "disambig/search/search.h"
#include "disambig/wrap/wrap.h"
#include "image/image.h"

enum disambig_method {
    DISAMBIG_RESIZE,
    DISAMBIG_MOVE,
    DISAMBIG_INSERT,
    DISAMBIG_CLONE,
    DISAMBIG_EDGES,
    DISAMBIG_WRAP,
};

struct disambig_options {
    const char *map;
    double budget;  /* percent by which the longest stack may grow */
    double target;  /* percent of the weight */
    double code;    /* percent by which copies may enlarge the program's code */
    double edges;   /* guards that may be executed, percent of all calls */
    unsigned given; /* bits of enum disambig_method */
    struct disambig_methods {
        bool anew, clone, insert, wrap; /* beside resizing in place; the others need the first */
        bool edges;                     /* needs clone */
    } methods;
    enum disambig_search { DISAMBIG_BEST, DISAMBIG_RANDOM } search;
    uint64_t seed, steps, most; /* most: bytes; steps: 0: no limit */
    const char *output, *map_output, *emit;
    bool selftest, symbolic;
    const char *program;
    char *const *command; /* of the self-test; NULL: none */
};

struct disambig {
    const struct disambig_options *options;
    struct terminal *terminal;
    struct pathmap *map;
    /* With calls led past the PLT: what `map` is over (clone/past_plt.h), and the map that was read; else NULL. */
    struct trie *past;
    struct pathmap *read;
    struct image *image;
    uint32_t number; /* the image's in the map */
    struct growth *growth;
    struct map_frames join;
    /* What was found last: pads by function or, with copies, by body; then by wrap. Borrowed from these: */
    struct search_result found;
    struct search_result searched; /* by frames alone; empty with copies */
    struct clone_result cloned;    /* empty: no copies */
    struct wrap_result wrapped;    /* without wraps, found.pads is NULL */
    double seconds;                /* of the search */
    struct pad *pads;              /* sorted by address, then copy */
    size_t pad_count;
    struct enlarged file; /* the patched file; empty: not made */
    struct trie *moved;   /* the map of the patched program; NULL: not made */
};

/* What of the map can change, as map_frames_make() and others take it; borrowed from `d`. */
struct map_frames_of disambig_frames_of(const struct disambig *d);
/* Opens the map and the program, and reads its frames. -ESTALE: the map is of another build; -ENOMSG: it has no paths of the
 * program, or its training did not see every call; else the errors of the parts. */
int disambig_open(struct disambig *d, struct fathom_error *err);
/* Chooses frame sizes, copies, guards and wraps. Errors as of clone_run(), search_run() and wrap_run(). */
int disambig_search(struct disambig *d, struct fathom_error *err);

/* Lists the functions that change: by their frame, or because they have copies, wraps or guards. -ENOMEM. */
int disambig_list_pads(struct disambig *d, struct fathom_error *err);
/* Makes the new file and writes it, with the permissions of the program (but set-user-ID). Does not publish it: it gets its name
 * when its map is written, too. Errors as of enlarge_frames(), or a system error. */
int disambig_write_program(struct disambig *d, struct outfile *out, struct fathom_error *err);
/* Makes the map of the new file, whose name `program` has, and writes it to `out`; NULL: only makes it. */
int disambig_write_map(struct disambig *d, const struct outfile *program, struct outfile *out,
                       struct fathom_error *err);
/* Writes the list of pads for the GCC plugin. */
int disambig_emit(const struct disambig *d, struct outfile *out, struct fathom_error *err);
/* Prints the report on standard output. */
void disambig_say(const struct disambig *d);
/* Runs the command with the patched file in place of the program, under the probe runtime, and compares the heights that it
 * measures with the moved map's; prints the result. -EDOM: some are wrong. */
int disambig_selftest(const struct disambig *d, struct fathom_error *err);

#endif
