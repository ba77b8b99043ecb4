/* Which of the agent's files are at fault. */
#include <criterion/criterion.h>

#include "cli/agent/failures.h"

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
