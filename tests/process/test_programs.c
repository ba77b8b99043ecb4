/* Which programs started which: chains of names out of records of tasks, in the orders in which the kernel and perf tell them. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "process/process.h"
#include "process/programs.h"

struct world {
    struct image_cache *images;
    struct processes *processes;
};

static struct world world_open(void)
{
    struct world w = {.images = image_cache_new(NULL)};
    w.processes = processes_new(w.images, NULL);
    cr_assert(w.images && w.processes);
    return w;
}

static void world_close(struct world *w)
{
    processes_free(w->processes);
    image_cache_free(w->images);
}

static void apply(struct world *w, const struct record *record)
{
    struct fathom_error err = {0};
    cr_assert_eq(processes_apply(w->processes, record, &err), 0, "%s", err.text);
}

static void forks(struct world *w, uint32_t parent, uint32_t pid, uint64_t time)
{
    struct record r = {.kind = RECORD_FORK, .pid = pid, .tid = pid, .time = time};
    r.fork.parent_pid = r.fork.parent_tid = parent;
    apply(w, &r);
}

static void named(struct world *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time, bool exec)
{
    struct record r = {.kind = RECORD_COMM, .pid = pid, .tid = tid, .time = time};
    r.comm.name = name;
    r.comm.exec = exec;
    apply(w, &r);
}

static void execs(struct world *w, uint32_t pid, const char *name)
{
    named(w, pid, pid, name, 5, true);
}

static void renames(struct world *w, uint32_t pid, const char *name)
{
    named(w, pid, pid, name, 5, false);
}

/* What is told of a process that runs already. */
static void ran(struct world *w, uint32_t parent, uint32_t pid, const char *name)
{
    forks(w, parent, pid, 0);
    named(w, pid, pid, name, 0, false);
}

static void maps(struct world *w, uint32_t pid, const char *path, bool executable)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid, .time = 5};
    r.mmap =
        (struct record_mmap){.address = 0x1000, .length = 0x1000, .executable = executable, .path = path};
    apply(w, &r);
}

/* "make > sh > cc1" */
static const char *chain(struct world *w, uint32_t pid)
{
    static char text[4096];
    char inner[4096] = "";
    const struct process *p = process_find(w->processes, pid);
    cr_assert(p);
    for (uint32_t program = process_program(p), parent; program; program = parent) {
        const char *name = process_program_name(p, program, &parent);
        snprintf(text, sizeof text, "%s%s%s", name, *inner ? " > " : "", inner);
        memcpy(inner, text, sizeof text);
    }
    return inner[0] ? text : "";
}

Test(programs, an_exec_starts_one_and_a_fork_goes_on)
{
    struct world w = world_open();
    execs(&w, 10, "make");
    forks(&w, 10, 11, 6);
    cr_expect_str_eq(chain(&w, 11), "make", "before its exec");
    execs(&w, 11, "sh");
    forks(&w, 11, 12, 7);
    execs(&w, 12, "cc1");
    cr_expect_str_eq(chain(&w, 12), "make > sh > cc1");
    execs(&w, 11, "gcc");
    cr_expect_str_eq(chain(&w, 11), "make > sh > gcc", "in the same process");
    cr_expect_str_eq(chain(&w, 12), "make > sh > cc1", "started by what ran before");
    execs(&w, 11, "gcc");
    cr_expect_str_eq(chain(&w, 11), "make > sh > gcc", "it starts itself again");
    forks(&w, 11, 13, 8);
    execs(&w, 13, "gcc");
    cr_expect_str_eq(chain(&w, 13), "make > sh > gcc > gcc", "another process of it");
    world_close(&w);
}

Test(programs, names_that_are_taken)
{
    struct world w = world_open();
    execs(&w, 10, "systemd");
    forks(&w, 10, 11, 6);
    renames(&w, 11, "(nginx)");
    cr_expect_str_eq(chain(&w, 11), "systemd > (nginx)");
    execs(&w, 11, "nginx");
    cr_expect_str_eq(chain(&w, 11), "systemd > nginx", "a name on the way to an exec does not count");
    renames(&w, 11, "nginx: master");
    renames(&w, 11, "master");
    cr_expect_str_eq(chain(&w, 11), "systemd > master");
    forks(&w, 11, 12, 7);
    renames(&w, 12, "worker");
    cr_expect_str_eq(chain(&w, 12), "systemd > master > worker");
    renames(&w, 12, "old worker");
    cr_expect_str_eq(chain(&w, 12), "systemd > master > old worker");
    named(&w, 12, 99, "thread", 8, false);
    cr_expect_str_eq(chain(&w, 12), "systemd > master > old worker", "a thread's name is not the program's");
    renames(&w, 11, "other");
    cr_expect_str_eq(chain(&w, 12), "systemd > master > old worker", "what started it had this name then");
    world_close(&w);
}

Test(programs, what_ran_before_the_recording)
{
    struct world w = world_open();
    ran(&w, 30, 20, "sh"); /* its parent's number is higher */
    ran(&w, 1, 30, "sshd");
    ran(&w, 0, 1, "systemd");
    ran(&w, 77, 40, "orphan"); /* its parent is gone */
    cr_expect_str_eq(chain(&w, 20), "systemd > sshd > sh");
    cr_expect_str_eq(chain(&w, 40), "orphan");
    forks(&w, 20, 21, 5);
    execs(&w, 21, "ls");
    cr_expect_str_eq(chain(&w, 21), "systemd > sshd > sh > ls");
    /* sshd ends, and another process gets its number. */
    forks(&w, 1, 30, 6);
    execs(&w, 30, "cron");
    cr_expect_str_eq(chain(&w, 20), "systemd > sshd > sh");
    cr_expect_str_eq(chain(&w, 30), "systemd > cron");
    execs(&w, 20, "vi");
    cr_expect_str_eq(chain(&w, 20), "systemd > sshd > sh > vi");
    /* One that is told of late, as it started while processes were listed. */
    forks(&w, 1, 50, 7);
    execs(&w, 50, "at");
    ran(&w, 1, 50, "at");
    cr_expect_str_eq(chain(&w, 50), "systemd > at");
    world_close(&w);
}

Test(programs, numbers_that_are_used_again)
{
    struct world w = world_open();
    execs(&w, 10, "sh");
    for (int i = 0; i < 3; i++) {
        forks(&w, 10, 11, 6);
        cr_expect_str_eq(chain(&w, 11), "sh");
        execs(&w, 11, "true");
        cr_expect_str_eq(chain(&w, 11), "sh > true");
    }
    forks(&w, 99, 11, 7);
    cr_expect_str_eq(chain(&w, 11), "", "of a parent that nothing is known of");
    execs(&w, 11, "true");
    cr_expect_str_eq(chain(&w, 11), "true");
    world_close(&w);
}

Test(programs, chains_have_an_end)
{
    struct world w = world_open();
    /* Parents of each other, as only a damaged file tells. */
    ran(&w, 2, 1, "a");
    ran(&w, 1, 2, "b");
    const char *text = chain(&w, 1);
    cr_expect_eq(strlen(text), 4 * PROGRAMS_DEEPEST - 3);
    cr_expect_str_eq(text + strlen(text) - 5, "b > a");
    /* A program that starts itself without end. */
    execs(&w, 100, "x");
    for (uint32_t pid = 100; pid < 300; pid++) {
        forks(&w, pid, pid + 1, 6);
        execs(&w, pid + 1, pid % 2 ? "x" : "y");
    }
    text = chain(&w, 300);
    cr_expect_eq(strlen(text), 4 * PROGRAMS_DEEPEST - 3);
    cr_expect_eq(text[strlen(text) - 1], 'x', "the last is the process's own");
    cr_expect_eq(process_program(process_find(w.processes, 300)),
                 process_program(process_find(w.processes, 298)));
    world_close(&w);
}

Test(programs, files)
{
    struct world w = world_open();
    execs(&w, 10, "sh");
    cr_expect_null(process_file(process_find(w.processes, 10)));
    maps(&w, 10, "[vdso]", true);
    maps(&w, 10, "/etc/data", false);
    maps(&w, 10, "/bin/dash", true);
    maps(&w, 10, "/lib/libc.so.6", true);
    cr_expect_str_eq(process_file(process_find(w.processes, 10)), "/bin/dash");
    forks(&w, 10, 11, 6);
    cr_expect_str_eq(process_file(process_find(w.processes, 11)), "/bin/dash");
    execs(&w, 11, "ls");
    cr_expect_null(process_file(process_find(w.processes, 11)));
    maps(&w, 11, "/bin/ls", true);
    cr_expect_str_eq(process_file(process_find(w.processes, 11)), "/bin/ls");
    /* A child that runs already when the recording begins: who forked it is told first, then what it has mapped. */
    forks(&w, 10, 12, 0);
    cr_expect_null(process_file(process_find(w.processes, 12)));
    maps(&w, 12, "/bin/cat", true);
    cr_expect_str_eq(process_file(process_find(w.processes, 12)), "/bin/cat");
    world_close(&w);
}

static void cgroup(struct world *w, uint64_t id, const char *path)
{
    /* Of the process that made it. */
    struct record r = {.kind = RECORD_CGROUP, .pid = 10, .tid = 10, .time = 5};
    r.cgroup.id = id;
    r.cgroup.path = path;
    apply(w, &r);
}

static const char *cgroup_of(struct world *w, uint32_t pid, uint64_t id)
{
    const char *path = process_cgroup(process_find(w->processes, pid), &(struct sample){.cgroup = id});
    return path ? path : "";
}

Test(programs, cgroups_of_samples)
{
    struct world w = world_open();
    execs(&w, 10, "sh");
    cr_expect_str_eq(cgroup_of(&w, 10, 7), "");
    cgroup(&w, 1, "/");
    cgroup(&w, 7, "/a");
    cr_expect_str_eq(cgroup_of(&w, 10, 7), "/a");
    cr_expect_str_eq(cgroup_of(&w, 10, 1), "/");
    cr_expect_str_eq(cgroup_of(&w, 10, 9), "", "an ID that nothing was told of");
    cr_expect_str_eq(cgroup_of(&w, 10, 0), "", "no ID");
    cgroup(&w, 7, "/a later"); /* IDs are used again */
    cr_expect_str_eq(cgroup_of(&w, 10, 7), "/a later");
    world_close(&w);
}
