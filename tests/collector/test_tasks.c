/* Who is recorded, as records of starts and ends come from rings in any order. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>

#include "collector/tasks.h"

static struct fork_record record_of(uint32_t type, uint32_t pid, uint32_t tid, uint64_t time)
{
    return (struct fork_record){{.type = type, .size = sizeof(struct fork_record)}, pid, 1, tid, 1, time};
}

static void starts(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct fork_record fork = record_of(PERF_RECORD_FORK, pid, tid, time);
    cr_assert_eq(tasks_look_ahead(t, &fork.header, NULL), 0);
}

static void ends(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct fork_record task = record_of(PERF_RECORD_EXIT, pid, tid, time);
    cr_assert_eq(tasks_take(t, &task, NULL), 0);
}

static bool has(const struct tasks *t, pid_t pid)
{
    return members_has(t->members, pid, pid);
}

static struct tasks begin(void)
{
    struct tasks t = {.members = members_new(false)};
    cr_assert(t.members && tasks_init(&t, NULL) == 0);
    return t;
}

static void end(struct tasks *t)
{
    members_free(t->members);
    tasks_free(t);
}

/* The end of the first user of a number is read after the start of the second one. */
Test(tasks, a_late_end_is_of_the_earlier_process)
{
    struct tasks t = begin();
    starts(&t, 10, 10, 100);
    tasks_round(&t);
    starts(&t, 10, 10, 300);
    ends(&t, 10, 10, 200);
    tasks_round(&t);
    cr_expect(has(&t, 10));
    starts(&t, 10, 10, 500);
    starts(&t, 10, 10, 700);
    ends(&t, 10, 10, 400);
    ends(&t, 10, 10, 600);
    tasks_round(&t);
    cr_expect(has(&t, 10));
    ends(&t, 10, 10, 800);
    cr_expect(has(&t, 10), "until the end of the round");
    tasks_round(&t);
    cr_expect_not(has(&t, 10));
    end(&t);
}

/* The earlier process had threads, whose numbers are not used again. */
Test(tasks, a_late_end_of_a_process_with_threads)
{
    struct tasks t = begin();
    starts(&t, 10, 10, 100);
    starts(&t, 10, 11, 110);
    starts(&t, 10, 10, 300);
    ends(&t, 10, 11, 190);
    ends(&t, 10, 10, 200);
    tasks_round(&t);
    cr_expect(has(&t, 10));
    ends(&t, 10, 10, 400);
    tasks_round(&t);
    cr_expect_not(has(&t, 10));
    end(&t);
}

static void is_started_by(struct tasks *t, uint32_t parent, uint32_t pid, uint32_t tid)
{
    struct fork_record fork = record_of(PERF_RECORD_FORK, pid, tid, 100);
    fork.ppid = parent;
    cr_assert_eq(tasks_look_ahead(t, &fork.header, NULL), 0);
}

Test(tasks, threads_without_processes)
{
    struct tasks t = begin();
    is_started_by(&t, 1, 10, 10);
    t.no_children = true;
    is_started_by(&t, 10, 10, 11);
    is_started_by(&t, 10, 20, 20);
    cr_expect(has(&t, 10));
    cr_expect_not(has(&t, 20));
    end(&t);
}
