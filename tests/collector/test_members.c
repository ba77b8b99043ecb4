/* Who is recorded where events tell of all processes. */
#include <criterion/criterion.h>

#include "collector/targets/members.h"

Test(members, processes_stay_until_their_last_thread_ended)
{
    struct members *m = members_new(false);
    cr_assert(members_start(m, 10, 10));
    cr_assert(members_start(m, 10, 11));
    cr_assert(members_start(m, 10, 11), "told twice");
    cr_expect(members_has(m, 10, 99));
    cr_expect_not(members_has(m, 11, 10));
    members_end(m, 10, 10);
    members_round(m);
    cr_expect(members_has(m, 10, 11));
    members_end(m, 10, 11);
    cr_expect(members_has(m, 10, 11), "its last samples may be in this round");
    members_round(m);
    cr_expect_not(members_has(m, 10, 11));
    members_end(m, 10, 11);
    cr_assert(members_start(m, 10, 10), "the PID is used again");
    cr_expect(members_has(m, 10, 10));
    members_free(m);
}

Test(members, what_was_attached_to_stays)
{
    struct members *m = members_new(false);
    cr_assert(members_add(m, 5, 5));
    members_end(m, 5, 5);
    members_end(m, 5, 6);
    members_round(m);
    cr_expect(members_has(m, 5, 7));
    members_free(m);
}

Test(members, of_threads)
{
    struct members *m = members_new(true);
    cr_assert(members_add(m, 5, 7));
    cr_expect(members_has(m, 5, 7));
    cr_expect_not(members_has(m, 5, 5));
    for (int tid = 1000; tid < 1200; tid++) {
        cr_assert(members_start(m, 5, tid));
        members_end(m, 5, tid);
    }
    cr_expect(members_has(m, 5, 1100));
    members_round(m);
    for (int tid = 1000; tid < 1200; tid++)
        cr_expect_not(members_has(m, 5, tid));
    members_free(m);
}

/* A thread's number that another process uses before the first one's end is read. */
Test(members, number_used_again)
{
    struct members *m = members_new(false);
    cr_assert(members_start(m, 10, 10) && members_start(m, 10, 11) && members_start(m, 20, 20));
    cr_assert(members_start(m, 20, 11));
    members_end(m, 10, 10);
    cr_expect(members_has(m, 10, 11), "its last samples may be in this round");
    members_round(m);
    cr_expect_not(members_has(m, 10, 11), "both of its threads ended");
    members_end(m, 20, 20);
    members_round(m);
    cr_expect(members_has(m, 20, 11), "one still runs");
    members_end(m, 20, 11);
    members_round(m);
    cr_expect_not(members_has(m, 20, 11));
    members_free(m);
}
