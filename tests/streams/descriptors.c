/* descriptors.c - closes all descriptors that it did not open, and has files of its own by their numbers, which are to stay as they
 * are: `close_range` closes all, `dup2` puts its own file at each number. `limit` lets no file grow. Exits with how many files were changed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES  6
#define NODES  100
#define ROUNDS 2000
#define HIGH   1024

struct node {
    struct node *next;
    long value;
};

static volatile long sum;

static __attribute__((noinline)) struct node *make_list(int count)
{
    struct node *list = NULL;
    for (int i = 0; i < count; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            exit(99);
        *node = (struct node){list, i};
        list = node;
    }
    return list;
}

static __attribute__((noinline)) void free_list(struct node *list)
{
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

static __attribute__((noinline)) long walk(const struct node *list)
{
    long total = 0;
    for (; list; list = list->next)
        total += list->value;
    return total;
}

static void work(struct node *list, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        struct node *other = make_list(10);
        sum += walk(list) + walk(other);
        free_list(other);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    struct node *list = make_list(NODES);
    int files[FILES], changed = 0;
    work(list, 100); /* the trace begins */
    if (strcmp(how, "close_range") == 0)
        close_range(3, ~0u, 0);
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "own%d", i);
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || write(files[i], "mine", 4) != 4)
            return 99;
    }
    for (int fd = 3; strcmp(how, "dup2") == 0 && fd < HIGH; fd++)
        if (fd < files[0] || fd > files[FILES - 1])
            dup2(files[0], fd);
    if (strcmp(how, "limit") == 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    work(list, ROUNDS);
    for (int i = 0; i < FILES; i++) {
        struct stat status;
        changed += fstat(files[i], &status) < 0 || status.st_size != 4;
    }
    return changed;
}
