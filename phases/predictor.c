/* predictor.c - see predictor.h. */
#include "phases/predictor.h"

#include <stdlib.h>

#include "base/hash.h"

struct phase_predictor {
    struct table *next; /* key_of(phase, its run length so far) -> the phase that came then */
    uint32_t phase;     /* of the last interval; 0: none yet */
    uint32_t run;       /* intervals that it has lasted so far */
};

/* For runs of 256 intervals and more, the first eight binary digits count. */
static uint64_t key_of(const struct phase_predictor *p)
{
    uint32_t run = p->run, halved = 0;
    for (; run >= 256; halved++)
        run /= 2;
    return (uint64_t)p->phase << 32 | halved << 8 | run;
}

struct phase_predictor *phase_predictor_new(void)
{
    struct phase_predictor *p = calloc(1, sizeof *p);
    if (p && !(p->next = table_new())) {
        free(p);
        return NULL;
    }
    return p;
}

void phase_predictor_free(struct phase_predictor *p)
{
    if (p)
        table_free(p->next);
    free(p);
}

#define MOST 65536u /* stored run lengths, 1 MB: then it starts anew */

static bool forget_runs(struct phase_predictor *p)
{
    struct table *empty = table_new();
    if (!empty)
        return false;
    table_free(p->next);
    p->next = empty;
    return true;
}

uint32_t phase_predictor_take(struct phase_predictor *p, uint32_t phase)
{
    if (p->phase) {
        if (table_count(p->next) >= MOST && !forget_runs(p))
            return 0;
        uint64_t *next = table_put(p->next, key_of(p), NULL);
        if (!next)
            return 0;
        *next = phase;
    }
    p->run = phase == p->phase ? p->run + 1 : 1;
    p->phase = phase;
    const uint64_t *next = table_find(p->next, key_of(p));
    return next ? (uint32_t)*next : phase;
}
