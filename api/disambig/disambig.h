/* disambig.h - a run of `fathom disambig`: its options, and the results of its steps. */
#ifndef FATHOM_API_DISAMBIG_DISAMBIG_H
#define FATHOM_API_DISAMBIG_DISAMBIG_H

#include "api/fathom-disambig.h"
#include "api/hooks/hooked.h"
#include "api/host.h"
#include "base/outfile.h"
#include "disambig/clone/clone.h"
#include "disambig/map_frames.h"
#include "disambig/measured.h"
#include "rewrite/pads.h"
#include "disambig/search/search.h"
#include "disambig/wrap/wrap.h"
#include "image/image.h"

struct disambig_methods {
    bool anew, clone, insert, wrap; /* in addition to resizing in place; the others need the first */
    bool edges;                     /* needs clone */
};

/* The self-test: a run of the command, and temporary files. */
struct disambig_test {
    struct image_cache *images;
    struct hooked hooked;
    struct trie *trie;
    char **command;          /* the given one, with the program replaced by the patched file's path */
    char *own;               /* that path */
    struct scratch *library; /* a directory with a link to the patched library; NULL: none */
};

struct fathom_disambig {
    struct fathom_disambig_options options;
    struct disambig_methods methods;
    struct host host;
    struct outfile *out, *map_out; /* NULL: none; `out`: the patched file, or the list */
    struct disambig_test test;
    struct pathmap *map;
    /* If calls bypass the PLT: the trie under `map` (clone/past_plt.h), and the map that was read; else NULL. */
    struct trie *past;
    struct pathmap *read;
    struct image *image;
    uint32_t number; /* the image's in the map */
    struct growth *growth;
    struct map_frames join;
    /* The latest result: pads by function, or by body if there are copies; then by wrap. Borrowed from the next three. */
    struct search_result found;
    struct search_result searched; /* of frame sizes only; empty with copies */
    struct clone_result cloned;    /* empty: no copies */
    struct wrap_result wrapped;    /* its found.pads is NULL if there are no wraps */
    double seconds;                /* of the search */
    struct pad *pads;              /* sorted by address, then copy */
    size_t pad_count;
    struct enlarged file; /* the patched file; empty: not made */
    struct trie *moved;   /* the map of the patched program; NULL: not made */
};

/* The changeable part of the map, for map_frames_make() and others; borrowed from `d`. */
struct map_frames_of disambig_frames_of(const struct fathom_disambig *d);
/* Opens the map and the program, and reads the program's frames. -ESTALE: the map is of another build; -ENOMSG: it has no paths of the
 * program, or its training did not see every call; others: errors of the parts. */
int disambig_open(struct fathom_disambig *d, struct fathom_error *err);
/* Chooses frame sizes, copies, guards and wraps. Errors of clone_run(), search_run() and wrap_run(). */
int disambig_search(struct fathom_disambig *d, struct fathom_error *err);

/* Lists the functions that change: their frames, or because of copies, wraps or guards. -ENOMEM. */
int disambig_list_pads(struct fathom_disambig *d, struct fathom_error *err);
/* Makes the new file and writes it, with the program's permissions except set-user-ID. It is not published until its map is written too.
 * Errors of enlarge_frames(), or a system error. */
int disambig_write_program(struct fathom_disambig *d, struct outfile *out, struct fathom_error *err);
/* Makes the map of the new file, whose path is program's, and writes it to `out`, unless that is NULL. */
int disambig_write_map(struct fathom_disambig *d, const struct outfile *program, struct outfile *out,
                       struct fathom_error *err);
/* Writes the list of pads for the GCC plugin. */
int disambig_emit(const struct fathom_disambig *d, struct outfile *out, struct fathom_error *err);
/* Ends the self-test, and removes what it made. */
void disambig_test_clear(struct fathom_disambig *d);

#endif
