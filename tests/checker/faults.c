/* faults.c - see faults.h. */
#include "tests/checker/faults.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define TEXT_MAX 8192

struct fault_seen {
    uint64_t times;
    uint32_t example; /* text */
};

struct faults {
    struct names *texts;    /* what is wrong */
    struct names *examples; /* paths */
    struct fault_seen *seen;
    uint32_t capacity;
};

struct faults *faults_new(void)
{
    struct faults *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->texts = names_new();
    f->examples = names_new();
    if (!f->texts || !f->examples) {
        faults_free(f);
        f = NULL;
    }
    return f;
}

void faults_free(struct faults *f)
{
    if (!f)
        return;
    names_free(f->texts);
    names_free(f->examples);
    free(f->seen);
    free(f);
}

/* Appends a function's name; returns the new length, at most size - 1. */
static size_t append(char *text, size_t size, size_t at, const char *before, struct function function)
{
    int length = snprintf(text + at, size - at, "%s", before);
    at = at + (size_t)length < size ? at + (size_t)length : size - 1;
    length = image_function_format(function.image, function.number, text + at, size - at);
    return at + (size_t)length < size ? at + (size_t)length : size - 1;
}

static void describe(const struct verdict *v, const struct function *path, char *text, size_t size)
{
    size_t at;
    switch (v->fault) {
    case FAULT_ROOT:
        at = append(text, size, 0, "the thread cannot begin with ", path[v->at]);
        break;
    case FAULT_UNMAPPED:
        at = append(text, size, 0, "not mapped in the process: ", path[v->at]);
        break;
    default:
        at = append(text, size, 0, "", path[v->at - 1]);
        at = append(text, size, at, " cannot call ", path[v->at]);
    }
    snprintf(text + at, size - at, " (%s)", image_name(path[v->at].image));
}

int faults_add(struct faults *f, const struct verdict *verdict, const struct function *path, size_t depth)
{
    char text[TEXT_MAX];
    describe(verdict, path, text, sizeof text);
    uint32_t before = names_count(f->texts), number = names_intern(f->texts, text);
    if (number == NAMES_NONE)
        return -ENOMEM;
    if (number >= f->capacity) {
        uint32_t capacity = f->capacity * 2 + 64;
        struct fault_seen *seen = realloc(f->seen, capacity * sizeof *seen);
        if (!seen)
            return -ENOMEM;
        f->seen = seen;
        f->capacity = capacity;
    }
    if (number == before) {
        size_t at = 0;
        for (size_t i = 0; i < depth; i++)
            at = append(text, sizeof text, at, i ? ";" : "", path[i]);
        f->seen[number] = (struct fault_seen){0, names_intern(f->examples, text)};
    }
    f->seen[number].times++;
    return f->seen[number].example == NAMES_NONE ? -ENOMEM : 0;
}

void faults_write(const struct faults *f, size_t most, FILE *out)
{
    uint64_t last = UINT64_MAX;
    uint32_t of_last = 0;
    for (size_t rank = 0; rank < most && rank < names_count(f->texts); rank++) {
        uint32_t best = NAMES_NONE; /* the next by count, then number */
        for (uint32_t i = 0; i < names_count(f->texts); i++) {
            uint64_t times = f->seen[i].times;
            bool after = times < last || (times == last && i > of_last);
            if (after && (best == NAMES_NONE || times > f->seen[best].times))
                best = i;
        }
        last = f->seen[best].times;
        of_last = best;
        fprintf(out, "checker: %llu times: %s\nchecker:   %s\n", (unsigned long long)last,
                names_text(f->texts, best), names_text(f->examples, f->seen[best].example));
    }
}
