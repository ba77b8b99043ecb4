/* Which paths and samples a filter leaves. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "profile/filter.h"

static const struct frames *names(uint32_t items[4])
{
    struct frames *frames = frames_new();
    items[0] = frames_named(frames, "main", "prog", 1);
    items[1] = frames_named(frames, "parse", "libp.so", 2);
    items[2] = frames_named(frames, "read", "libc.so.6", 3);
    items[3] = frames_label(frames, FRAME_LABEL, "parse.c:12");
    return frames;
}

static struct filter *filter(struct filter_options options)
{
    struct filter *f;
    struct fathom_error err = {0};
    cr_assert_eq(filter_new(&options, NULL, &f, &err), 0, "%s", err.text);
    return f;
}

/* Of main > parse > read, with a line at its end. */
static bool keeps(struct filter_options options)
{
    uint32_t items[4];
    const struct frames *frames = names(items);
    struct filter *f = filter(options);
    bool first = filter_path(f, frames, items, 4), again = filter_path(f, frames, items, 4);
    cr_expect_eq(first, again);
    filter_free(f);
    frames_free((struct frames *)frames);
    return first;
}

Test(filter, by_the_functions_of_a_path)
{
    cr_expect(keeps((struct filter_options){0}));
    cr_expect(keeps((struct filter_options){.focus = "^par"}));
    cr_expect_not(keeps((struct filter_options){.focus = "^ars"}));
    cr_expect_not(keeps((struct filter_options){.ignore = "^par"}));
    cr_expect_not(keeps((struct filter_options){.focus = "parse.c"}), "a line is no function");
    cr_expect(keeps((struct filter_options){.symbol = "^read$"}), "the innermost function");
    cr_expect_not(keeps((struct filter_options){.symbol = "parse"}));
    cr_expect(keeps((struct filter_options){.image = "libc", .symbol = "re"}));
    cr_expect_not(keeps((struct filter_options){.image = "libc", .symbol = "main"}));
    cr_expect_not(keeps((struct filter_options){.image = "prog"}));
}

Test(filter, lists)
{
    cr_expect(keeps((struct filter_options){.image = "libz,libc"}));
    cr_expect(keeps((struct filter_options){.symbol = "^write$,^read$"}));
    cr_expect_not(keeps((struct filter_options){.ignore = "lex,^parse$"}));
    cr_expect_not(keeps((struct filter_options){.focus = "lex\\,parse"}), "an escaped comma");
    cr_expect_not(keeps((struct filter_options){.focus = "^f\\(int,main\\)"}), "the arguments of a function");
    cr_expect_not(keeps((struct filter_options){.focus = "std::map<int,parse>"}));
    cr_expect(keeps((struct filter_options){.focus = "^pa{1,2}r"}), "a bound");
    cr_expect_not(keeps((struct filter_options){.focus = "^z[a,parse]"}), "a class");
}

Test(filter, by_time_and_thread)
{
    pid_t tids[] = {7, 9};
    struct filter *f = filter((struct filter_options){.from = 1, .to = 2, .tids = tids, .tid_count = 2});
    struct sample s = {.pid = 7, .tid = 7, .time = 5000000000};
    cr_expect_not(filter_sample(f, NULL, &s), "the first one begins the time");
    s.time = 6000000000;
    cr_expect(filter_sample(f, NULL, &s));
    s.tid = 8;
    cr_expect_not(filter_sample(f, NULL, &s));
    s.tid = 9;
    cr_expect(filter_sample(f, NULL, &s));
    s.time = 7000000000;
    cr_expect_not(filter_sample(f, NULL, &s));
    filter_free(f);
    f = filter((struct filter_options){.comm = "x"});
    cr_expect_not(filter_sample(f, NULL, &s), "a process whose name is unknown");
    filter_free(f);
}

/* glibc's regcomp() overflows the stack, or takes all memory. */
Test(filter, expressions_that_explode)
{
    static char deep[20001];
    struct filter *f;
    struct fathom_error err;
    memset(deep, '(', sizeof deep - 1);
    cr_expect_eq(filter_new(&(struct filter_options){.focus = deep}, NULL, &f, &err), -EINVAL);
    cr_expect_eq(filter_new(&(struct filter_options){.ignore = "a{1,255}{1,255}{1,255}"}, NULL, &f, &err),
                 -EINVAL);
    cr_expect_eq(filter_new(&(struct filter_options){.comm = "a{99999999999999999999}"}, NULL, &f, &err),
                 -EINVAL);
    cr_expect(keeps((struct filter_options){.focus = "^p{1}[a-z]{1,99}$"}));
    cr_expect(keeps((struct filter_options){.ignore = "x[{]{1,9}[{,]"}), "braces that repeat nothing");
}

Test(filter, what_cannot_be)
{
    struct fathom_error err;
    struct filter *f;
    cr_expect_eq(filter_new(&(struct filter_options){.symbol = "("}, NULL, &f, &err), -EINVAL);
    cr_expect_eq(filter_new(&(struct filter_options){.image = "libz,,libc"}, NULL, &f, &err), -EINVAL);
    cr_expect_eq(filter_new(&(struct filter_options){.symbol = "operator,"}, NULL, &f, &err), -EINVAL,
                 "all would match");
    cr_expect_eq(filter_new(&(struct filter_options){.from = 2, .to = 2}, NULL, &f, &err), -EINVAL);
}
