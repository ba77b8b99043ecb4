#include "api/report/local_maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "image/made/perf_map.h"
#include "image/mapped_name.h"

#define DIRECTORY "/tmp"

static bool has_maps(void)
{
    DIR *directory = opendir(DIRECTORY);
    bool any = false;
    unsigned pid;
    char end;
    for (const struct dirent *entry; directory && !any && (entry = readdir(directory));)
        any = sscanf(entry->d_name, "perf-%u.ma%c", &pid, &end) == 2 && end == 'p';
    if (directory)
        closedir(directory);
    return any;
}

/* An order_sink: notes processes that have executable memory without a file. */
static int note_process(void *pids, const struct record *record, struct fathom_error *err)
{
    if (record->kind != RECORD_MMAP || !record->mmap.executable || !record->mmap.path ||
        !mapped_is_run_time(record->mmap.path))
        return 0;
    return table_put(pids, record->pid, NULL) ? 0 : error_memory(err);
}

/* Adds a process's map, if it has one that may be read. 0 or -ENOMEM. */
static int add_map(struct code_namer *namer, uint32_t pid, const struct log *log)
{
    char path[sizeof DIRECTORY "/perf-4294967295.map"];
    struct stat st;
    struct file_view view = {.fd = -1};
    snprintf(path, sizeof path, DIRECTORY "/perf-%u.map", pid);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    if ((st.st_uid != 0 && st.st_uid != geteuid()) || (uint64_t)st.st_size > LOCAL_MAPS_BYTES) {
        log_write(log, LOG_WARNING, "%s is not read: it is %s", path,
                  (uint64_t)st.st_size > LOCAL_MAPS_BYTES ? "larger than 64 MB" : "another user's");
        return 0;
    }
    int rc = file_view_read(path, &view, NULL) == 0 ? code_namer_begin(namer) : 0;
    if (rc == 0 && view.data)
        rc = perf_map_read(namer, (const char *)view.data, view.size);
    if (view.data && rc != -ENOMEM)
        rc = code_namer_end(namer, pid, UINT64_MAX);
    file_view_close(&view);
    return rc == -ENOMEM ? rc : 0;
}

static int add_maps(struct reader *reader, const struct table *pids, const struct log *log,
                    struct fathom_error *err)
{
    struct code_namer *namer = code_namer_new();
    uint8_t *data = NULL;
    size_t size = 0;
    uint64_t pid, value;
    int rc = namer ? 0 : -ENOMEM;
    for (size_t cursor = 0; rc == 0 && table_next(pids, &cursor, &pid, &value);)
        rc = add_map(namer, (uint32_t)pid, log);
    if (rc == 0)
        rc = code_namer_write(namer, &data, &size);
    rc = rc < 0 ? error_memory(err) : data ? reader_name_code(reader, data, size, err) : 0;
    free(data);
    code_namer_free(namer);
    return rc;
}

int local_maps_read(struct reader *reader, const struct log *log, struct fathom_error *err)
{
    if (reader_is_ours(reader) || !has_maps())
        return 0;
    struct table *pids = table_new();
    int rc = pids ? reader_run(reader, note_process, pids, err) : error_memory(err);
    if (rc == 0 && table_count(pids))
        rc = add_maps(reader, pids, log, err);
    table_free(pids);
    return rc;
}
