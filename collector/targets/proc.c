/* proc.c - reads /proc of another process; see proc.h. */
#include "collector/targets/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"
#include "base/vec.h"

#define FILE_SIZE_MAX       (256u << 20) /* 65,530 mappings with names of 4 KB */
#define STACK_LIMIT_DEFAULT (8ULL << 20)

/* A whole file of /proc, NUL-terminated; *text is owned by the caller. */
static int read_text(const char *path, char **text)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t size;
    const int rc = file_read_text(fd, FILE_SIZE_MAX, text, &size);
    close(fd);
    return rc;
}

/* The kernel escapes only newlines in names, as \012 (seq_path()). */
static void decode_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from; to++) {
        bool line_end = strncmp(from, "\\012", 4) == 0;
        *to = line_end ? '\n' : *from;
        from += line_end ? 4 : 1;
    }
    *to = 0;
}

/* "start-end rwxp offset maj:min inode   path" */
static bool parse_vma(char *line, struct vma *vma)
{
    char flags[5];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
               &vma->start, &vma->end, flags, &vma->offset, &vma->maj, &vma->min, &vma->inode, &path) < 7 ||
        vma->end <= vma->start || strlen(flags) != 4)
        return false;
    vma->prot = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
                (flags[2] == 'x' ? PROT_EXEC : 0);
    vma->shared = flags[3] == 's';
    decode_name(line + path);
    vma->path = line + path;
    return true;
}

/* The file of a process whose first thread has ended is empty: another thread's has the same mappings. */
static int read_maps(pid_t pid, char **text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    int rc = read_text(path, text);
    if (rc || **text)
        return rc;
    pid_t *tids;
    size_t count;
    rc = proc_threads(pid, &tids, &count);
    if (rc == -ENOMEM)
        free(*text);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    for (size_t i = 0; i < count && rc == 0 && !**text; i++) {
        char *other;
        snprintf(path, sizeof path, "/proc/%d/task/%d/maps", (int)pid, (int)tids[i]);
        rc = read_text(path, &other);
        if (rc == 0) {
            free(*text);
            *text = other;
        }
        rc = rc == -ENOMEM ? rc : 0;
    }
    free(tids);
    if (rc)
        free(*text);
    return rc;
}

/* Takes ownership of the text. */
static int parse_maps(char *text, struct maps *maps)
{
    char *save;
    size_t lines = 0;
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        lines++;
    struct maps made = {.list = calloc(lines + 1, sizeof *made.list), .text = text};
    if (!made.list) {
        free(text);
        return -ENOMEM;
    }
    for (char *line = strtok_r(text, "\n", &save); line && made.count < lines;
         line = strtok_r(NULL, "\n", &save))
        made.count += parse_vma(line, &made.list[made.count]);
    *maps = made;
    return 0;
}

int proc_maps(pid_t pid, struct maps *maps)
{
    char *text;
    int rc = read_maps(pid, &text);
    return rc ? rc : parse_maps(text, maps);
}

int proc_maps_copy(const char *path, struct maps *maps)
{
    char *text;
    int rc = read_text(path, &text);
    return rc ? rc : parse_maps(text, maps);
}

void proc_maps_free(struct maps *maps)
{
    free(maps->list);
    free(maps->text);
    *maps = (struct maps){0};
}

const struct vma *proc_maps_find(const struct maps *maps, uint64_t address)
{
    size_t first = lower_bound(i, 0, maps->count, maps->list[i].end <= address);
    return first < maps->count && maps->list[first].start <= address ? &maps->list[first] : NULL;
}

static int read_stat(const char *path, struct proc_stat *out)
{
    char *text;
    int rc = read_text(path, &text);
    if (rc)
        return rc;
    struct proc_stat stat = {0};
    /* Field 2, the name, is in parentheses and may contain any byte, including parentheses. */
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    rc = -EINVAL;
    if (open && close && open < close) {
        snprintf(stat.name, sizeof stat.name, "%.*s", (int)(close - open - 1), open + 1);
        int field = 2;
        char *save, *word = strtok_r(close + 1, " ", &save);
        uint64_t fields[29] = {0};
        for (; word && ++field < 29; word = strtok_r(NULL, " ", &save))
            fields[field] = strtoull(word, NULL, 10);
        if (field >= 28) {
            stat.parent = (pid_t)fields[4];
            stat.user = fields[14];
            stat.kernel = fields[15];
            stat.started = fields[22];
            stat.start_stack = fields[28];
            *out = stat;
            rc = 0;
        }
    }
    free(text);
    return rc;
}

int proc_stat(pid_t pid, struct proc_stat *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_stat(path, out);
}

int proc_thread_stat(pid_t pid, pid_t tid, struct proc_stat *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    return read_stat(path, out);
}

int proc_thread_name(pid_t pid, pid_t tid, char *name, size_t size)
{
    char path[64], *text;
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    int rc = read_text(path, &text);
    if (rc)
        return rc;
    text[strcspn(text, "\n")] = '\0';
    snprintf(name, size, "%s", text);
    free(text);
    return 0;
}

/* The numbers that are names in a directory; -ESRCH: it has none, or does not exist. */
static int list_numbers(const char *path, pid_t **tids, size_t *count)
{
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    pid_t *list = NULL;
    size_t used = 0, capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        if (!vec_push(list, used, capacity, (pid_t)strtol(entry->d_name, NULL, 10))) {
            free(list);
            closedir(dir);
            return -ENOMEM;
        }
    }
    closedir(dir);
    if (used == 0) {
        free(list);
        return -ESRCH;
    }
    *tids = list;
    *count = used;
    return 0;
}

int proc_threads(pid_t pid, pid_t **tids, size_t *count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return list_numbers(path, tids, count);
}

int proc_everyone(pid_t **pids, size_t *count)
{
    return list_numbers("/proc", pids, count);
}

int proc_thread_group(pid_t tid, pid_t *pid)
{
    char path[64], *text;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    int rc = read_text(path, &text);
    if (rc)
        return rc == -ENOENT ? -ESRCH : rc;
    const char *at = strstr(text, "\nTgid:");
    rc = -EINVAL;
    if (at) {
        *pid = (pid_t)strtol(at + 6, NULL, 10);
        rc = 0;
    }
    free(text);
    return rc;
}

/* The last number of a line of /proc/PID/status. false: it has none. */
static bool status_number(const char *text, const char *key, uint32_t *out)
{
    const char *line = strstr(text, key), *end = line ? strchr(line + 1, '\n') : NULL;
    if (!end)
        return false;
    while (end > line && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return sscanf(end, "%" SCNu32, out) == 1;
}

/* NSpid has its PID in each namespace, its own last; Uid its file system user last. */
int proc_self(pid_t pid, struct proc_self *out)
{
    struct proc_stat stat;
    struct timespec now, up;
    char path[64], *text;
    uint32_t own, user;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int rc = proc_stat(pid, &stat);
    rc = rc ? rc : read_text(path, &text);
    if (rc)
        return rc;
    const bool good = status_number(text, "\nNSpid:", &own) && status_number(text, "\nUid:", &user) &&
                      clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_gettime(CLOCK_BOOTTIME, &up) == 0;
    free(text);
    if (!good)
        return -EINVAL;
    *out = (struct proc_self){
        (pid_t)own, user, now.tv_sec - up.tv_sec + (time_t)(stat.started / (uint64_t)sysconf(_SC_CLK_TCK))};
    return 0;
}

int proc_thread_waits(pid_t pid, pid_t tid, struct proc_wait *out)
{
    /* "NR six-arguments SP PC", "-1 SP PC" or "running" */
    char path[64], *text, *save;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    int rc = read_text(path, &text);
    if (rc)
        return rc;
    const char *last[2] = {NULL, NULL};
    size_t words = 0;
    *out = (struct proc_wait){.call = strtoll(text, NULL, 10)};
    for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        last[0] = last[1];
        last[1] = word;
        if (words++ == 1)
            out->first = strtoull(word, NULL, 16);
    }
    rc = -EAGAIN;
    if (words >= 3) {
        out->sp = strtoull(last[0], NULL, 16);
        out->pc = strtoull(last[1], NULL, 16);
        rc = out->sp ? 0 : -EAGAIN;
    }
    free(text);
    return rc;
}

uint64_t proc_stack_limit(pid_t pid)
{
    char path[64], *text;
    uint64_t limit = STACK_LIMIT_DEFAULT;
    snprintf(path, sizeof path, "/proc/%d/limits", (int)pid);
    if (read_text(path, &text))
        return limit;
    const char *at = strstr(text, "Max stack size");
    uint64_t value;
    if (at && sscanf(at + strlen("Max stack size"), "%" SCNu64, &value) == 1 && value > 0)
        limit = value;
    free(text);
    return limit;
}

size_t proc_read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

void proc_program(pid_t pid, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, size - 1);
    path[n > 0 ? n : 0] = '\0';
}
