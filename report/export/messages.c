/* messages.c - see messages.h. */
#include "report/export/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"

int messages_begin(struct messages *m, const struct contexts *contexts, struct fathom_error *err)
{
    *m = (struct messages){.contexts = contexts,
                           .arena = arena_new(0),
                           .texts = names_new(),
                           .mappings = table_new(),
                           .functions = table_new()};
    int rc = m->arena && m->texts && m->mappings && m->functions ? used_frames_find(contexts, &m->used, err)
                                                                 : error_memory(err);
    if (rc == 0)
        rc = sites_begin(&m->sites, contexts, &m->used, err);
    return rc == 0 ? placed_add_up(contexts, &(struct placing){.slices = 1}, &m->placed, err) : rc;
}

void messages_clear(struct messages *m)
{
    table_free(m->mappings);
    table_free(m->functions);
    names_free(m->texts);
    placed_clear(&m->placed);
    sites_clear(&m->sites);
    used_frames_clear(&m->used);
    arena_free(m->arena);
}

void *message_memory(struct messages *m, size_t size)
{
    void *memory = m->failed ? NULL : arena_alloc(m->arena, size ? size : 1);
    m->failed |= !memory;
    return memory;
}

void *message_add(struct messages *m, struct message_list *list, size_t size)
{
    void *made = message_memory(m, size);
    m->failed |= made && list && !vec_push(list->at, list->count, list->capacity, made);
    return m->failed ? NULL : made;
}

int32_t message_text(struct messages *m, const char *words)
{
    if (!words || !*words)
        return 0;
    char *clean = strdup(words);
    if (clean)
        text_clean(clean);
    const uint32_t number = clean ? names_intern(m->texts, clean) : NAMES_NONE;
    free(clean);
    m->failed |= number == NAMES_NONE;
    return m->failed ? 0 : (int32_t)number + 1;
}

void message_strings(struct messages *m, struct message_list *strings)
{
    for (uint32_t i = 0, count = names_count(m->texts); i <= count && !m->failed; i++) {
        char *words = (char *)(uintptr_t)(i ? names_text(m->texts, i - 1) : "");
        m->failed |= !vec_push(strings->at, strings->count, strings->capacity, words);
    }
}
