/* Which of the agent's files are at fault, and which failures are forgotten. */
#include <criterion/criterion.h>

#include "agent/failures.h"

static struct failures *failures;

static void fail(const char *name, enum failed what, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        failures_note(failures, name, what);
        failures_settle(failures);
    }
}

Test(failures, blame)
{
    failures = failures_new();
    fail("unreadable", FAILED_TO_READ, 2);
    fail("refused", FAILED_TO_SHIP, 11);
    cr_assert(!failures_blame(failures, "unreadable") && !failures_blame(failures, "refused"));
    fail("unreadable", FAILED_TO_READ, 1);
    fail("refused", FAILED_TO_SHIP, 1);
    cr_assert(failures_blame(failures, "unreadable") && failures_blame(failures, "refused"));
    fail("unremoved", FAILED_TO_REMOVE, 1000);
    cr_assert_eq(failures_of(failures, "unremoved"), 1000);
    cr_assert(!failures_blame(failures, "unremoved"), "it is in the store");
    for (int i = 0; i < 1000; i++) /* while the store takes none */
        failures_note(failures, "other", FAILED_TO_SHIP);
    failures_settle(failures);
    cr_assert(!failures_blame(failures, "other"));
    failures_free(failures);
}

Test(failures, keep_those_of_the_spool)
{
    char new[] = "new", waits[] = "waits";
    struct spool_file files[] = {{.name = new}, {.name = waits}};
    const struct spool spool = {.files = files, .count = 2};
    failures = failures_new();
    fail("trimmed", FAILED_TO_SHIP, 3);
    fail("waits", FAILED_TO_SHIP, 5);
    failures_keep(failures, &spool);
    cr_assert_eq(failures_of(failures, "trimmed"), 0);
    cr_assert_eq(failures_of(failures, "waits"), 5);
    failures_free(failures);
}
