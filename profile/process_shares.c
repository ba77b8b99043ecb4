/* process_shares.c - see process_shares.h. */
#include "profile/process_shares.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"

struct process_shares {
    struct names *names;
    struct process_share *at; /* by number of the name */
    uint32_t count, capacity;
};

struct process_shares *process_shares_new(void)
{
    struct process_shares *s = calloc(1, sizeof *s);
    return whole_or_free(s, (s->names = names_new()), free);
}

void process_shares_free(struct process_shares *s)
{
    if (!s)
        return;
    names_free(s->names);
    free(s->at);
    free(s);
}

int process_shares_add(struct process_shares *s, const char *name, uint64_t weight)
{
    uint32_t number =
        vec_reserve(s->at, s->count, s->capacity, 1) ? names_intern(s->names, name) : NAMES_NONE;
    if (number == NAMES_NONE)
        return -ENOMEM;
    if (number == s->count)
        s->at[s->count++] = (struct process_share){names_text(s->names, number), 0};
    s->at[number].weight = add_saturating(s->at[number].weight, weight);
    return 0;
}

static bool is_heavier(const struct process_share *a, const struct process_share *b)
{
    return a->weight != b->weight ? a->weight > b->weight : strcmp(a->name, b->name) < 0;
}

size_t process_shares_heaviest(const struct process_shares *s, struct process_share *out, size_t most,
                               size_t *others)
{
    size_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        size_t place = count;
        while (place > 0 && is_heavier(&s->at[i], &out[place - 1]))
            place--;
        if (place == most)
            continue;
        count += count < most;
        memmove(&out[place + 1], &out[place], (count - place - 1) * sizeof *out);
        out[place] = s->at[i];
    }
    *others = s->count - count;
    return count;
}
