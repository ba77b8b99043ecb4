#include "api/doctor/written_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "collector/targets/proc.h"

#define WORDS_MOST (4u << 20) /* bytes; the kernel allows 2 MB of arguments if stacks have 8 MB */

/* NULL: it cannot be read. */
static char *read_file(pid_t pid, const char *name, size_t *size)
{
    char path[48], *text = NULL;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (file_read_text(fd, WORDS_MOST, &text, size) < 0)
        text = NULL;
    close(fd);
    return text;
}

static enum written_file find_map(pid_t pid, const struct proc_self *self)
{
    char path[80];
    struct stat map;
    snprintf(path, sizeof path, "/proc/%d/root/tmp/perf-%d.map", (int)pid, (int)self->pid);
    if (lstat(path, &map) != 0 || !proc_self_may_have_written(self, &map))
        return WRITTEN_NONE;
    return proc_self_trusts(self, &map) ? WRITTEN_OWN : WRITTEN_FOREIGN;
}

static bool maps_dump(pid_t pid, pid_t own)
{
    struct maps maps;
    char name[32];
    bool found = false;
    if (proc_maps(pid, &maps) != 0)
        return false;
    snprintf(name, sizeof name, "jit-%d.dump", (int)own);
    for (size_t i = 0; i < maps.count && !found; i++)
        found = strcmp(path_base(maps.list[i].path), name) == 0;
    proc_maps_free(&maps);
    return found;
}

void written_names_read(pid_t pid, struct written_names *out)
{
    struct written_names names = {.file = WRITTEN_NONE};
    struct proc_self self;
    names.words = read_file(pid, "cmdline", &names.words_size);
    names.settings = read_file(pid, "environ", &names.settings_size);
    if (proc_self(pid, &self) == 0) {
        names.own_pid = self.pid;
        names.file = maps_dump(pid, self.pid) ? WRITTEN_OWN : find_map(pid, &self);
    }
    *out = names;
}

void written_names_free(struct written_names *names)
{
    free(names->words);
    free(names->settings);
    *names = (struct written_names){0};
}

static bool begins(const char *text, const char *flag)
{
    for (; *flag; text++, flag++)
        if ((*text == '_' ? '-' : *text) != *flag)
            return false;
    return true;
}

/* Whether a word of the value begins with the flag. */
static bool has_flag(const char *value, const char *flag)
{
    for (; *value; value += strcspn(value, " "), value += strspn(value, " "))
        if (begins(value, flag))
            return true;
    return false;
}

bool written_names_flag(const struct written_names *names, const char *variable, const char *flag)
{
    const size_t length = strlen(variable);
    for (size_t at = 0; names->words && at < names->words_size; at += strlen(names->words + at) + 1)
        if (begins(names->words + at, flag))
            return true;
    for (size_t at = 0; names->settings && at < names->settings_size;) {
        const char *setting = names->settings + at;
        if (strncmp(setting, variable, length) == 0 && setting[length] == '=' &&
            has_flag(setting + length + 1, flag))
            return true;
        at += strlen(setting) + 1;
    }
    return false;
}
