/* ambiguity.c - prints how much of a map is ambiguous, how its ambiguous paths differ, and which methods would resolve that. */
#include <stdlib.h>

#include "api/fathom-disambig.h"
#include "disambig/ambiguity/ambiguity.h"
#include "report/export/json.h"

#define NAMES_SHOWN 6u /* number of differing functions in text */

static const struct {
    const char *name, *help;
} methods[] = {
    [AMBIGUITY_RESIZE] = {"resize", "if frames are made larger"},
    [AMBIGUITY_WRAP] = {"wrap", "if calls are wrapped"},
    [AMBIGUITY_CLONE] = {"clone", "if functions are cloned"},
    [AMBIGUITY_METHODS] = {"-", ""},
};

/* The output. */
struct listing {
    const struct pathmap *map;
    const struct ambiguity *a;
    const char *path;
    uint64_t rows;
    struct printer printer;
    struct json json;
};

static uint32_t rows_of(const struct listing *l)
{
    return l->rows < l->a->count ? (uint32_t)l->rows : l->a->count;
}

static void print_share(struct listing *l, const char *what, const struct ambiguity_share *share,
                        const char *help)
{
    char weight[SHARE_SIZE], paths[SHARE_SIZE];
    share_format(weight, share->weight, l->a->all.weight);
    share_format(paths, share->paths, l->a->all.paths);
    printer_write(&l->printer, "  %-8s %8s %8s%s%s\n", what, weight, paths, *help ? "  " : "", help);
}

static void print_functions(struct listing *l, const struct ambiguity_function *functions, uint32_t count)
{
    char name[1024];
    if (!count) {
        printer_write(&l->printer, "%45s the same functions in another order\n", "");
        return;
    }
    printer_write(&l->printer, "%45s ", "");
    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        printer_write(&l->printer, i ? ", " : "");
        printer_foreign(&l->printer, pathmap_function_name(l->map, functions[i].function, name, sizeof name));
        printer_write(&l->printer, " %u-%ux", functions[i].least, functions[i].greatest);
    }
    if (count > NAMES_SHOWN)
        printer_write(&l->printer, ", and %u more", count - NAMES_SHOWN);
    printer_write(&l->printer, "\n");
}

static int print_cid(struct listing *l, const struct ambiguous_cid *cid, struct fathom_error *err)
{
    struct ambiguity_function *functions;
    uint32_t count;
    char name[1024], share[SHARE_SIZE];
    int rc = ambiguity_functions(l->map, cid, &functions, &count, err);
    if (rc < 0)
        return rc;
    printer_write(&l->printer, "%12llu %7s %7u %7u  %-6s ", (unsigned long long)cid->weight,
                  share_format(share, cid->weight, l->a->all.weight), cid->paths, cid->height,
                  methods[cid->method].name);
    printer_foreign(&l->printer, pathmap_function_name(l->map, cid->function, name, sizeof name));
    printer_write(&l->printer, "\n");
    print_functions(l, functions, count);
    free(functions);
    return 0;
}

static int print_text(struct listing *l, struct fathom_error *err)
{
    const struct ambiguity *a = l->a;
    printer_foreign(&l->printer, l->path);
    printer_write(&l->printer, ": %llu %s, %llu paths, %llu CIDs of which %u %s ambiguous\n\n",
                  (unsigned long long)a->all.weight, a->sampled ? "samples" : "calls",
                  (unsigned long long)a->all.paths, (unsigned long long)a->cid_count, a->count,
                  a->count == 1 ? "is" : "are");
    printer_write(&l->printer, "  %-8s %8s %8s\n", "precise", a->sampled ? "samples" : "calls", "paths");
    print_share(l, "now", &a->precise, "");
    for (unsigned m = 0; m < AMBIGUITY_METHODS; m++)
        print_share(l, methods[m].name, &a->ceilings[m], methods[m].help);
    uint32_t rows = rows_of(l);
    if (rows)
        printer_write(&l->printer, "\n%12s %7s %7s %7s  %-6s %s\n", a->sampled ? "samples" : "calls", "share",
                      "paths", "height", "mended", "function, and what is not on all paths equally often");
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < rows; i++)
        rc = print_cid(l, &a->cids[i], err);
    return rc;
}

static void write_share(struct json *json, const char *key, const struct ambiguity_share *share)
{
    json_object(json, key);
    json_number(json, "weight", share->weight);
    json_number(json, "paths", share->paths);
    json_end(json);
}

static int write_cid(struct listing *l, const struct ambiguous_cid *cid, struct fathom_error *err)
{
    struct ambiguity_function *functions;
    uint32_t count;
    char name[1024];
    int rc = ambiguity_functions(l->map, cid, &functions, &count, err);
    if (rc < 0)
        return rc;
    json_object(&l->json, NULL);
    json_text(&l->json, "function", pathmap_function_name(l->map, cid->function, name, sizeof name));
    json_number(&l->json, "height", cid->height);
    json_number(&l->json, "weight", cid->weight);
    json_number(&l->json, "paths", cid->paths);
    json_text(&l->json, "method", cid->method < AMBIGUITY_METHODS ? methods[cid->method].name : NULL);
    json_array(&l->json, "differ");
    for (uint32_t i = 0; i < count; i++) {
        json_object(&l->json, NULL);
        json_text(&l->json, "function",
                  pathmap_function_name(l->map, functions[i].function, name, sizeof name));
        json_number(&l->json, "least", functions[i].least);
        json_number(&l->json, "greatest", functions[i].greatest);
        json_end(&l->json);
    }
    json_end(&l->json);
    json_end(&l->json);
    free(functions);
    return 0;
}

static int write_json(struct listing *l, struct fathom_error *err)
{
    l->json.printer = &l->printer;
    json_object(&l->json, NULL);
    json_text(&l->json, "unit", l->a->sampled ? "samples" : "calls");
    write_share(&l->json, "all", &l->a->all);
    write_share(&l->json, "precise", &l->a->precise);
    for (unsigned m = 0; m < AMBIGUITY_METHODS; m++)
        write_share(&l->json, methods[m].name, &l->a->ceilings[m]);
    json_number(&l->json, "cids", l->a->cid_count);
    json_number(&l->json, "ambiguous_cids", l->a->count);
    json_array(&l->json, "ambiguous");
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < rows_of(l); i++)
        rc = write_cid(l, &l->a->cids[i], err);
    json_end(&l->json);
    json_end(&l->json);
    return rc;
}

int fathom_ambiguity_write(const char *path, uint64_t rows, enum fathom_ambiguity_format format, FILE *out,
                           struct fathom_error *err)
{
    struct pathmap *map;
    struct ambiguity a;
    int rc = pathmap_open(path, &map, err);
    if (rc < 0)
        return rc;
    rc = ambiguity_measure(map, NULL, NULL, &a, err);
    if (rc == 0) {
        struct listing l = {.map = map, .a = &a, .path = path, .rows = rows, .printer.out = out};
        rc = format == FATHOM_AMBIGUITY_JSON ? write_json(&l, err) : print_text(&l, err);
        if (rc == 0)
            rc = printer_finish(&l.printer, err);
        ambiguity_clear(&a);
    }
    pathmap_close(map);
    return rc;
}
