/* The agent's spool: which of its files a process has open, however many wait and are open. */
#include "agent/spool.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WAITING = 2000, OPEN = 500 };

static void make(const char *directory, int number, bool keep)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s%04d", directory, SPOOL_PREFIX, number);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    cr_assert(fd >= 0);
    if (!keep)
        close(fd);
}

Test(spool, growing)
{
    char directory[] = "/tmp/fathom-spool-XXXXXX";
    cr_assert(mkdtemp(directory));
    for (int i = 0; i < WAITING; i++)
        make(directory, i, i == 7 || i == WAITING - 1);
    for (int i = 0; i < OPEN; i++)
        cr_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    struct spool spool = {0};
    struct fathom_error err = {0};
    cr_assert(spool_list(directory, &spool, &err) == 0);
    cr_assert(spool.count == WAITING);
    /* Each second, while a store does not answer: descriptors are asked for once, not for each file that waits. */
    const clock_t before = clock();
    cr_expect(spool_find_growing(&spool, getpid()));
    const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
    cr_expect(took < 0.1, "took %.3f s", took);
    for (int i = 0; i < WAITING; i++)
        cr_expect(spool.files[i].growing == (i == 7 || i == WAITING - 1), "%s", spool.files[i].name);
    spool_clear(&spool);
    char command[sizeof directory + 16];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_expect(system(command) == 0);
}
