#include "api/store/compared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/store/selection.h"
#include "api/store/stored.h"
#include "base/hash.h"
#include "base/vec.h"
#include "store/gathering.h"

#define SLICES                                                                                               \
    200 /* of a side with one host: enough to estimate a variance to 10%; each costs as much as a host */

struct side {
    const char *name; /* as it was given */
    char *words;      /* a copy, split into the selection's texts */
    struct fathom_store_selection selection;
    struct store_query query;
    struct selected selected;
    struct names *hosts; /* with their gatherings, by number */
    struct gathering **gatherings;
    size_t capacity;
    uint64_t slice;
};

struct compared {
    struct compared_options options;
    struct store *store;
    struct dictionary *dictionary;
    struct side sides[2];
};

static int take_word(struct side *s, const char *word, const char *value, struct fathom_error *err)
{
    struct fathom_store_selection *to = &s->selection;
    const struct {
        const char *word, **at;
    } known[] = {{"service", &to->service},
                 {"host", &to->host},
                 {"build", &to->build},
                 {"since", &to->since},
                 {"until", &to->until}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].word, word) == 0) {
            *known[i].at = value;
            return 0;
        }
    return error_set(err, EINVAL,
                     "'%s' is no side of a store: give 'all', or of service, host, build, since and until "
                     "those that matter, as in 'build=1f3a,until=2d'",
                     s->name);
}

static int parse_side(struct side *s, struct fathom_error *err)
{
    int rc = 0;
    s->words = strdup(s->name);
    if (!s->words)
        return error_memory(err);
    for (char *rest = s->words, *word; rc == 0 && rest && strcmp(s->name, "all") != 0;) {
        word = strsep(&rest, ",");
        char *equals = strchr(word, '=');
        if (equals)
            *equals = '\0';
        rc = take_word(s, equals ? word : "", equals ? equals + 1 : NULL, err);
    }
    return rc == 0 ? selection_query(&s->selection, &s->query, err) : rc;
}

int compared_open(const struct compared_options *options, struct compared **out, struct fathom_error *err)
{
    struct compared *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->options = *options;
    c->dictionary = dictionary_new();
    int rc = c->dictionary
                 ? store_open(options->common->url, options->common->credentials, false, &c->store, err)
                 : error_memory(err);
    for (unsigned i = 0; rc == 0 && i < 2; i++) {
        struct side *s = &c->sides[i];
        s->name = options->sides[i];
        s->selection = *options->common;
        s->hosts = names_new();
        rc = s->hosts ? parse_side(s, err) : error_memory(err);
    }
    if (rc < 0)
        compared_close(c);
    else
        *out = c;
    return rc;
}

void compared_close(struct compared *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < 2; i++) {
        struct side *s = &c->sides[i];
        for (uint32_t host = 0; s->hosts && host < names_count(s->hosts); host++)
            gathering_free(s->gatherings[host]);
        free(s->gatherings);
        names_free(s->hosts);
        selected_clear(&s->selected);
        free(s->words);
    }
    dictionary_free(c->dictionary);
    store_close(c->store);
    free(c);
}

static int add_batch(void *context, const struct store_batch *batch, struct fathom_error *err)
{
    struct side *s = context;
    const uint32_t known = names_count(s->hosts);
    if (!vec_reserve(s->gatherings, known, s->capacity, 1))
        return error_memory(err);
    const uint32_t host = names_intern(s->hosts, batch->key.host);
    if (host == NAMES_NONE)
        return error_memory(err);
    if (host == known)
        s->gatherings[host] = gathering_new(s->slice);
    return s->gatherings[host] ? gathering_add(s->gatherings[host], batch, err) : error_memory(err);
}

static int visit_host(struct compared *c, unsigned side, uint32_t host, compared_visit *visit, void *context,
                      struct fathom_error *err)
{
    struct side *s = &c->sides[side];
    struct gathered sums;
    struct contexts contexts;
    struct filter *filter = NULL; /* each is for one table of frames */
    char *name = NULL;
    int rc = stored_filter(c->options.filter, &filter, err);
    if (rc == 0)
        rc = gathering_contexts(s->gatherings[host], c->store, c->dictionary, filter, &contexts, err);
    if (rc == 0 && asprintf(&name, "%s on %s", s->name, names_text(s->hosts, host)) < 0)
        rc = error_memory(err);
    gathering_sums(s->gatherings[host], &sums);
    if (rc == 0)
        rc = visit(context, side, name, s->selected.event, sums.unit, &contexts, err);
    free(name);
    filter_free(filter);
    gathering_free(s->gatherings[host]);
    s->gatherings[host] = NULL;
    return rc;
}

static int complete_side(struct compared *c, unsigned side, const char *event, struct fathom_error *err)
{
    struct side *s = &c->sides[side];
    struct fathom_error told = {0};
    int rc = selection_complete(c->store, event, &s->query, &s->selected, &told);
    return rc == 0         ? 0
           : rc == -ENOENT ? error_set(err, ENOENT, "side %c, %.128s: %s", "AB"[side], s -> name, told.text)
                           : error_set(err, -rc, "%s", told.text);
}

/* Completes both sides before either is read. If each has only one host, its changes over time show what is chance. */
static int complete_sides(struct compared *c, struct fathom_error *err)
{
    struct side *a = &c->sides[0], *b = &c->sides[1];
    int rc = complete_side(c, 0, c->options.event, err);
    if (rc == 0)
        rc = complete_side(c, 1, a->selected.event, err);
    for (unsigned i = 0; rc == 0 && i < 2 && a->selected.hosts == 1 && b->selected.hosts == 1; i++)
        c->sides[i].slice = selected_slice(&c->sides[i].selected, SLICES);
    return rc;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether the first or last slot that a query found is also selected by the other query. */
static bool reaches(const struct selected *found, const struct store_query *other)
{
    const uint64_t slots[] = {found->first, found->last};
    for (unsigned i = 0; i < 2; i++)
        if (slots[i] >= other->from && (!other->to || slots[i] < other->to))
            return true;
    return false;
}

bool compared_overlap(const struct compared *c)
{
    const struct side *a = &c->sides[0], *b = &c->sides[1];
    return same_text(a->query.service, b->query.service) && same_text(a->query.host, b->query.host) &&
           same_text(a->query.build, b->query.build) &&
           (reaches(&a->selected, &b->query) || reaches(&b->selected, &a->query));
}

int compared_each(struct compared *c, compared_visit *visit, void *context, struct fathom_error *err)
{
    int rc = complete_sides(c, err);
    for (unsigned i = 0; rc == 0 && i < 2; i++) {
        struct side *s = &c->sides[i];
        s->query.slice = s->slice;
        s->query.by_host = true;
        rc = store_each(c->store, &s->query, add_batch, s, err);
        if (rc == 0 && !names_count(s->hosts)) /* they have been removed since */
            rc = error_set(err, ENOENT, "side %c, %.128s: the store has no such samples", "AB"[i], s -> name);
        for (uint32_t host = 0; rc == 0 && host < names_count(s->hosts); host++)
            rc = visit_host(c, i, host, visit, context, err);
    }
    return rc;
}
