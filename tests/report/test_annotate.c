/* Which functions an annotation is of, and its source lines. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hcct/cct.h"
#include "report/annotate/choose.h"
#include "report/annotate/sources.h"

/* Code of this program, by its names. */
int annotated_hot(int x);
int annotated_warm(int x);
int annotated_hot(int x)
{
    return x * 3;
}
int annotated_warm(int x)
{
    return x * 5;
}

struct setup {
    struct image *image;
    struct cct *cct;
    struct frames *frames;
    struct placed_sample samples[8];
    uint64_t values[8];
    struct metrics metrics;
    struct contexts contexts;
};

static uint32_t find_function(const struct image *image, const char *name)
{
    for (uint32_t i = 0; i < image_function_count(image); i++)
        if (image_function(image, i)->name && strcmp(image_function(image, i)->name, name) == 0)
            return i;
    cr_assert_fail("no function %s", name);
    return 0;
}

static void add(struct setup *s, const char *caller, const char *function, uint64_t weight)
{
    uint32_t index = find_function(s->image, function);
    uint32_t items[2] = {frames_named(s->frames, caller, "prog", 1),
                         frames_function(s->frames, s->image, index)};
    struct placed_sample *sample = &s->samples[s->contexts.sample_count];
    *sample = (struct placed_sample){.node = cct_add(s->cct, items, 2, &weight),
                                     .image = s->image,
                                     .address = image_function(s->image, index)->address};
    s->values[s->contexts.sample_count++] = weight;
}

static struct setup setup_open(void)
{
    struct setup s = {.cct = cct_new(1), .frames = frames_new(), .metrics.count = 1};
    cr_assert_eq(image_open("/proc/self/exe", NULL, &s.image, NULL), 0);
    add(&s, "a;b", "annotated_warm", 5);
    add(&s, "main", "annotated_hot", 10);
    add(&s, "a;b", "annotated_hot", 1);
    add(&s, "main", "annotated_hot", 10);
    return s;
}

static struct choice *choose(struct setup *s, struct annotate_options *options,
                             const struct chosen **functions, size_t count)
{
    struct choice *choice;
    struct fathom_error err = {0};
    s->contexts.frames = s->frames;
    s->contexts.metrics = &s->metrics;
    s->contexts.samples = s->samples;
    s->contexts.sample_values = s->values;
    cr_assert_eq(choice_new(&s->contexts, options, &choice, &err), 0, "%s", err.text);
    cr_assert_eq(choice_functions(choice, functions), count);
    return choice;
}

static int refused(struct setup *s, const char *function, const char *path)
{
    struct choice *choice;
    struct fathom_error err = {0};
    return choice_new(&s->contexts, &(struct annotate_options){.function = function, .path = path}, &choice,
                      &err);
}

static void setup_close(struct setup *s)
{
    cct_free(s->cct);
    frames_free(s->frames);
    image_close(s->image);
}

Test(choose, the_hottest_of_those_that_are_meant)
{
    struct setup s = setup_open();
    const struct chosen *f;
    struct choice *c = choose(&s, &(struct annotate_options){.function = "^annotated_"}, &f, 2);
    cr_expect_str_eq(f[0].name, "annotated_hot");
    cr_expect_eq(f[0].weight, 21);
    cr_expect_eq(f[0].samples, 3);
    cr_expect_eq(f[0].contexts, 2);
    cr_expect_str_eq(f[1].name, "annotated_warm");
    cr_expect(choice_has(c, &f[0], &s.samples[1]));
    cr_expect_not(choice_has(c, &f[0], &s.samples[0]));
    choice_free(c);
    c = choose(&s, &(struct annotate_options){.function = "annotated_warm"}, &f, 1);
    choice_free(c);
    cr_expect_eq(refused(&s, "annotated_none", NULL), -ENOENT);
    cr_expect_eq(refused(&s, "a((", NULL), -EINVAL);
    setup_close(&s);
}

Test(choose, paths_end_as_folded_stacks_do)
{
    struct setup s = setup_open();
    const struct chosen *f;
    struct choice *c = choose(
        &s, &(struct annotate_options){.function = "annotated_hot", .path = "a:b;annotated_hot"}, &f, 1);
    cr_expect_eq(f[0].weight, 1);
    cr_expect_not(choice_has(c, &f[0], &s.samples[1]));
    cr_expect(choice_has(c, &f[0], &s.samples[2]));
    choice_free(c);
    c = choose(&s, &(struct annotate_options){.function = "annotated_hot", .path = "annotated_hot"}, &f, 1);
    cr_expect_eq(f[0].weight, 21);
    choice_free(c);
    const char *others[] = {"", ";", "b;annotated_hot", "main;annotated_ho", "x;main;annotated_hot", "main"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect_eq(refused(&s, "annotated_hot", others[i]), -ENOENT, "'%s'", others[i]);
    setup_close(&s);
}

static void expect_line(struct sources *s, const char *file, uint32_t line, const char *wanted)
{
    size_t length = 0;
    const char *text = sources_line(s, file, line, &length);
    if (!wanted) {
        cr_expect_null(text, "line %u of %s", line, file);
        return;
    }
    cr_assert_not_null(text, "line %u of %s", line, file);
    cr_expect_eq(length, strlen(wanted));
    cr_expect_eq(memcmp(text, wanted, length), 0);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
    FILE *f = fopen(name, "w");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

Test(sources, lines_of_text_files_alone)
{
    char directory[] = "/tmp/fathom-sources.XXXXXX";
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
    umask(022);
    write_file("text", "one\r\n\ntwo\nlast", 14);
    write_file("nul", "one\n\0\ntwo\n", 10);
    write_file("empty", "", 0);
    write_file("secret", "one\n", 4);
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    write_file("large", "one\n", 4);
    cr_assert_eq(truncate("large", (off_t)SOURCE_BYTES_MOST + 1), 0);
    struct sources *s = sources_new(NULL), *below = sources_new(directory);
    const char *lines[] = {NULL, "one", "", "two", "last", NULL};
    for (uint32_t i = 0; i < 6; i++) {
        expect_line(s, "text", i, lines[i]);
        expect_line(below, "/text", i, lines[i]);
        expect_line(below, "/built/../text", i, lines[i]);
    }
    expect_line(below, "/../../../../etc/passwd", 1, NULL);
    expect_line(s, "text", UINT32_MAX, NULL);
    cr_assert_eq(chmod("secret", 0600), 0);
    expect_line(s, "secret", 1, geteuid() == 0 ? NULL : "one");
    const char *others[] = {"nul", "empty", "pipe", "large", "missing", "", "/", "/dev/zero"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        expect_line(s, others[i], 1, NULL);
    sources_free(s);
    sources_free(below);
    const char *names[] = {"text", "nul", "empty", "pipe", "large", "secret"};
    for (unsigned i = 0; i < 6; i++)
        unlink(names[i]);
    rmdir(directory);
}
