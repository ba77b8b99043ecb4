/* synth.c - records of an already running process; see synth.h. */
#include "collector/targets/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "collector/targets/moved_text.h"

static int synth_threads(pid_t pid, const struct sideband *to, struct fathom_error *err)
{
    pid_t *tids;
    size_t count;
    int rc = proc_threads(pid, &tids, &count);
    if (rc)
        return rc == -ESRCH ? error_set(err, ESRCH, "process %d does not exist", (int)pid)
                            : error_system(err, -rc, "cannot list the threads of process %d", (int)pid);
    for (size_t i = 0; i < count && rc == 0; i++) {
        char name[32];
        if (tids[i] == pid || proc_thread_name(pid, tids[i], name, sizeof name) != 0)
            continue;
        rc = sideband_fork(to, pid, tids[i], pid, pid, err);
        if (rc == 0)
            rc = sideband_comm(to, pid, tids[i], name, err);
    }
    free(tids);
    return rc;
}

static int write_mappings(pid_t pid, enum synth_mappings which, const struct sideband *to,
                          struct fathom_error *err)
{
    struct maps maps;
    if (proc_maps(pid, &maps) != 0)
        return 0;
    int rc = 0;
    for (size_t i = 0; i < maps.count && rc == 0; i++) {
        const struct vma *vma = &maps.list[i];
        struct moved_pieces moved;
        size_t count = moved_text_find(pid, &maps, i, &moved);
        if (!moved_text_is_all(&moved, vma) &&
            (vma->prot & PROT_EXEC || which == SYNTH_ALL || (which == SYNTH_FILES && vma->inode)))
            rc = sideband_mapping(to, pid, vma, 0, err);
        for (size_t j = 0; j < count && rc == 0; j++)
            rc = sideband_mapping(to, pid, &moved.list[j], 0, err);
    }
    proc_maps_free(&maps);
    return rc;
}

int synth_process(pid_t pid, enum synth_mappings which, const struct sideband *to, struct fathom_error *err)
{
    struct proc_stat stat;
    int rc = proc_stat(pid, &stat);
    if (rc == -ENOENT || rc == -ESRCH)
        return error_set(err, ESRCH, "process %d does not exist", (int)pid);
    if (rc)
        return error_system(err, -rc, "cannot read /proc/%d/stat", (int)pid);
    rc = sideband_fork(to, pid, pid, stat.parent, stat.parent, err);
    if (rc == 0)
        rc = sideband_comm(to, pid, pid, stat.name, err);
    if (rc == 0)
        rc = write_mappings(pid, which, to, err);
    if (rc == 0)
        rc = synth_threads(pid, to, err);
    return rc;
}
