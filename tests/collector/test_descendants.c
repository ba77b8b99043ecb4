/* Who was started by whom: a child that starts two, one of which has ended. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/targets/descendants.h"

static bool has(const pid_t *list, size_t count, pid_t wanted)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += list[i] == wanted;
    cr_assert_leq(times, 1, "each once");
    return times;
}

static void expect(pid_t of, pid_t except, const pid_t *wanted, size_t count)
{
    pid_t *found;
    size_t found_count;
    cr_assert_eq(descendants_find(&of, 1, except, &found, &found_count), 0);
    for (size_t i = 0; i < count; i++)
        cr_expect(has(found, found_count, wanted[i]), "%d of %d", (int)wanted[i], (int)of);
    cr_expect_eq(found_count, count);
    free(found);
}

Test(descendants, of_all_generations)
{
    int told[2];
    pid_t family[3] = {0};
    cr_assert_eq(pipe(told), 0);
    family[0] = fork();
    if (family[0] == 0) {
        for (int i = 1; i < 3; i++) {
            family[i] = fork();
            if (family[i] == 0)
                for (;;)
                    pause();
        }
        if (write(told[1], family, sizeof family) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    pid_t child = family[0];
    cr_assert_eq(read(told[0], family, sizeof family), (ssize_t)sizeof family);
    family[0] = child;
    expect(getpid(), 0, family, 3);
    expect(child, 0, family + 1, 2);
    expect(family[1], 0, NULL, 0);
    expect(getpid(), child, NULL, 0);
    expect(getpid(), family[1], (pid_t[]){child, family[2]}, 2);
    for (size_t i = 3; i-- > 0;)
        kill(family[i], SIGKILL);
    waitpid(child, NULL, 0);
}
