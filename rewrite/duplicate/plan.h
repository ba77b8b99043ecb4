/* plan.h - the mover's plan for a duplicated file (duplicate.h): two copies of each function, with their code.
 * Private to rewrite/duplicate/. */
#ifndef FATHOM_REWRITE_DUPLICATE_PLAN_H
#define FATHOM_REWRITE_DUPLICATE_PLAN_H

#include "base/arena.h"
#include "rewrite/duplicate/duplicate.h"

struct codes { /* of one copy */
    struct move_code *at;
    size_t count, capacity;
};

struct duplicate_plan {
    struct move_function *functions; /* pairs: the checking, the instrumented copy */
    size_t function_count, function_capacity;
    struct codes *codes; /* for each of the functions */
    size_t codes_count, codes_capacity;
    struct move_call *calls; /* calls in instrumented copies */
    size_t call_count, call_capacity;
    struct duplicate_site *sites; /* by address; pc is not known yet */
    size_t site_count, site_capacity;
    struct arena *arena; /* for the code's bytes and distances */
};

/* Plans all chosen functions that can be moved; *out gets the counts. -ENOMEM; -ENOTSUP: code of the image uses
 * GS. */
int duplicate_plan_make(const struct move_survey *survey, const struct calls *calls,
                        const struct duplicate_options *options, struct duplicate_plan *plan,
                        struct duplicated *out, struct fathom_error *err);
void duplicate_plan_free(struct duplicate_plan *plan);

#endif
