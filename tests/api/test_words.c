/* test_words.c - words that no table has are refused, and so are options that do not go together. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "api/fathom.h"

static int check(const struct fathom_report_options *options, const char *sentence)
{
    struct fathom_error err = {0};
    int rc = fathom_report_check(options, &err);
    cr_expect(strstr(err.text, sentence), "'%s' has no '%s'", err.text, sentence);
    return rc;
}

Test(words, others_are_refused)
{
    struct fathom_report_options o;
    fathom_report_defaults(&o);
    cr_expect_eq(check(&o, ""), 0);
    o.format = "script";
    cr_expect_eq(check(&o, ""), 0);
    o.fields = "path,nothing";
    cr_expect_eq(check(&o, "nothing"), -EINVAL);
    fathom_report_defaults(&o);
    o.format = "annotate";
    cr_expect_eq(check(&o, "needs a function"), -EINVAL);
    o.function = "main";
    cr_expect_eq(check(&o, ""), 0);
    fathom_report_defaults(&o);
    o.format = "paper";
    cr_expect_eq(check(&o, "no format 'paper'"), -EINVAL);
    fathom_report_defaults(&o);
    o.view = "paper";
    cr_expect_eq(check(&o, "no view 'paper'"), -EINVAL);
    fathom_report_defaults(&o);
    o.profile.metric = "paper";
    cr_expect_eq(check(&o, "no metric 'paper'"), -EINVAL);
    fathom_report_defaults(&o);
    o.profile.counter = (enum fathom_counter)9;
    cr_expect_eq(check(&o, "no counter 9"), -EINVAL);
    fathom_report_defaults(&o);
    o.profile.wakers = FATHOM_WAKERS_MOST;
    cr_expect_eq(check(&o, ""), 0);
    o.profile.wakers = UINT64_C(1) << 32;
    cr_expect_eq(check(&o, "at most 16"), -EINVAL);
}

Test(words, views_of_recordings_are_none_of_calls)
{
    static const char *const views[] = {"memory", "locks", "wakers", "groups"};
    struct fathom_error err;
    cr_expect_eq(fathom_calls_check(&(struct fathom_calls_listing){.view = "flat"}, &err), 0);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        cr_expect_eq(fathom_calls_check(&(struct fathom_calls_listing){.view = views[i]}, &err), -EINVAL);
        cr_expect(strstr(err.text, "is of recordings"), "%s", err.text);
    }
}

Test(words, options_must_go_together)
{
    struct fathom_report_options o;
    fathom_report_defaults(&o);
    o.format = "perf";
    cr_expect_eq(check(&o, "needs a file"), -EINVAL);
    o.output = "-";
    cr_expect_eq(check(&o, ""), 0);
    o.certainty = FATHOM_CERTAINTY_FRAME;
    cr_expect_eq(check(&o, "stays where it is"), -EINVAL);
    fathom_report_defaults(&o);
    o.profile.phi = 0.1;
    cr_expect_eq(check(&o, ""), 0);
    o.profile.eps = 0.1;
    cr_expect_eq(check(&o, "--eps"), -EINVAL);
    o.profile.eps = 0;
    o.format = "html";
    cr_expect_eq(check(&o, ""), 0);
    o.format = "firefox";
    cr_expect_eq(check(&o, "bounded memory"), -EINVAL);
}
