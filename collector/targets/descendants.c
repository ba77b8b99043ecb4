/* descendants.c - see descendants.h. Reads /proc as a whole: the kernel need not have lists of children (CONFIG_PROC_CHILDREN). */
#include "collector/targets/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "collector/targets/proc.h"

struct child {
    pid_t pid, parent;
};

static int by_parent(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    return x->parent != y->parent ? (x->parent > y->parent) - (x->parent < y->parent)
                                  : (x->pid > y->pid) - (x->pid < y->pid);
}

/* All processes but one, sorted by their parents. */
static int list_all(pid_t except, struct child **out, size_t *count)
{
    struct child *list = NULL;
    size_t used = 0, capacity = 0;
    const struct dirent *entry;
    struct proc_stat stat;
    int rc = 0;
    DIR *dir = opendir("/proc");
    if (!dir)
        return -errno;
    while (rc == 0 && (entry = readdir(dir))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != except && proc_stat(pid, &stat) == 0 &&
            !vec_push(list, used, capacity, (struct child){pid, stat.parent}))
            rc = -ENOMEM;
    }
    closedir(dir);
    if (rc) {
        free(list);
        return rc;
    }
    if (used)
        qsort(list, used, sizeof *list, by_parent);
    *out = list;
    *count = used;
    return 0;
}

/* Adds a process's children to those found. */
static bool add_children(pid_t of, const struct child *all, size_t count, struct table *seen, pid_t *found,
                         size_t *used)
{
    for (size_t i = lower_bound(k, 0, count, all[k].parent < of); i < count && all[i].parent == of; i++) {
        bool added;
        if (!table_put(seen, (uint32_t)all[i].pid, &added))
            return false;
        if (added)
            found[(*used)++] = all[i].pid;
    }
    return true;
}

int descendants_find(const pid_t *of, size_t count, pid_t except, pid_t **found, size_t *found_count)
{
    struct child *all = NULL;
    size_t all_count = 0, used = 0;
    int rc = list_all(except, &all, &all_count);
    struct table *seen = table_new();
    pid_t *list = calloc(all_count + 1, sizeof *list);
    bool good = rc == 0 && seen && list;
    for (size_t i = 0; good && i < count; i++)
        good = add_children(of[i], all, all_count, seen, list, &used);
    for (size_t i = 0; good && i < used; i++)
        good = add_children(list[i], all, all_count, seen, list, &used);
    free(all);
    table_free(seen);
    if (!good) {
        free(list);
        return rc ? rc : -ENOMEM;
    }
    *found = list;
    *found_count = used;
    return 0;
}
