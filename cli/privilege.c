/* privilege.c - see privilege.h. capabilities(7), landlock(7). */
#include "cli/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/symlinks.h"

#define BIT(capability) (UINT64_C(1) << (capability))

/* All Linux versions with capabilities above 31 use this layout. */
static bool get_capabilities(uint64_t *permitted)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &head, data) != 0)
        return false;
    *permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
    return true;
}

static bool set_capabilities(uint64_t permitted, uint64_t effective)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct data[2] = {
        {.permitted = (uint32_t)permitted, .effective = (uint32_t)effective},
        {.permitted = (uint32_t)(permitted >> 32), .effective = (uint32_t)(effective >> 32)}};
    return syscall(SYS_capset, &head, data) == 0;
}

/* malloc'd. */
static char *directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return !slash ? strdup(".") : strndup(file, slash == file ? 1 : (size_t)(slash - file));
}

/* Whether the file's directory can be written without the capabilities that override modes. */
static bool writes_without(uint64_t permitted, const char *output)
{
    char *directory = directory_of(output);
    const uint64_t around = BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
    struct stat in, of;
    if (!directory || !set_capabilities(permitted, permitted & ~around)) {
        free(directory);
        return false;
    }
    bool can = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 && stat(directory, &in) == 0 &&
               (!(in.st_mode & S_ISVTX) || in.st_uid == geteuid() || stat(output, &of) != 0 ||
                of.st_uid == geteuid());
    set_capabilities(permitted, permitted);
    free(directory);
    return can;
}

/* Gives up all capabilities except these, in all sets, and any that an executed program could gain. */
static void keep_capabilities(uint64_t kept, struct terminal *terminal)
{
    uint64_t permitted = 0;
    bool good = get_capabilities(&permitted) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        if (!(kept & BIT(i)))
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0); /* EPERM without CAP_SETPCAP: nothing can be gained either */
    good = good && set_capabilities(permitted & kept, permitted & kept);
    if (!good)
        terminal_say(terminal, LOG_WARNING, "privileges that are not needed cannot be given up: %s",
                     strerror(errno));
}

/* Landlock's ABI as in linux/landlock.h, which may be older than the kernel. */
enum {
    LANDLOCK_EXECUTE = 1 << 0,
    LANDLOCK_WRITE_FILE = 1 << 1,
    LANDLOCK_CHANGES = 0x1ff << 4, /* remove and make files of all kinds */
    LANDLOCK_REFER = 1 << 13,      /* ABI 2 */
    LANDLOCK_TRUNCATE = 1 << 14,   /* ABI 3 */
    LANDLOCK_NET_TCP = 3,          /* ABI 4: bind, connect */
    LANDLOCK_SCOPES = 3,           /* ABI 6: abstract UNIX sockets, signals */
};

struct landlock_rules {
    uint64_t files, net, scopes;
};

struct landlock_beneath {
    uint64_t allowed;
    int32_t directory;
} __attribute__((packed));

/* Closes the descriptor. Does nothing if it is negative. */
static void allow_beneath(int rules, int directory, uint64_t allowed)
{
    struct landlock_beneath beneath = {.allowed = allowed, .directory = directory};
    if (directory < 0)
        return;
    syscall(SYS_landlock_add_rule, rules, 1, &beneath, 0);
    close(directory);
}

/* Allows a directory from the environment if it belongs to this user: HOME may be another user's, as under sudo. make: create it if it
 * does not exist, but not its parents. */
static void allow_own(int rules, const char *directory, uint64_t allowed, bool make)
{
    if (make)
        mkdir(directory, 0700);
    allow_beneath(rules, symlinks_open_own(directory), allowed);
}

/* libdebuginfod makes its cache at its first request. */
static void allow_caches(int rules, uint64_t allowed, bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"),
               *servers = getenv("DEBUGINFOD_CACHE_PATH");
    char path[4096];
    if (cache && cache[0] == '/')
        allow_own(rules, cache, allowed, make);
    if (home && home[0] == '/' && snprintf(path, sizeof path, "%s/.cache", home) < (int)sizeof path)
        allow_own(rules, path, allowed, make);
    if (servers && servers[0] == '/')
        allow_own(rules, servers, allowed, make);
}

/* false: this kernel has no Landlock, or it is not enabled. */
static bool confine_process(const struct fathom_writing *w)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
    if (abi < 1)
        return false;
    const char *urls = getenv("DEBUGINFOD_URLS");
    bool asks = urls && urls[0];
    uint64_t writing = LANDLOCK_WRITE_FILE | LANDLOCK_CHANGES | (abi >= 2 ? LANDLOCK_REFER : 0) |
                       (abi >= 3 ? LANDLOCK_TRUNCATE : 0);
    struct landlock_rules rules = {.files = LANDLOCK_EXECUTE | writing,
                                   .net = abi >= 4 && !asks && !w->connects ? LANDLOCK_NET_TCP : 0,
                                   .scopes = abi >= 6 ? LANDLOCK_SCOPES : 0};
    size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 16 : 8;
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (fd < 0)
        return false;
    allow_caches(fd, writing, asks);
    for (size_t i = 0; i < w->count; i++)
        if (w->directories[i])
            allow_own(fd, w->directories[i], writing, false);
    if (w->output) {
        char *directory = directory_of(w->output);
        allow_beneath(fd, directory ? open(directory, O_PATH | O_CLOEXEC) : -1, writing);
        free(directory);
    }
    allow_beneath(fd, open("/dev/null", O_PATH | O_CLOEXEC), LANDLOCK_WRITE_FILE);
    bool confined = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
    close(fd);
    return confined;
}

void privilege_only_read(struct terminal *terminal)
{
    privilege_only_read_and(&(struct fathom_writing){0}, terminal);
}

void privilege_only_read_and(const struct fathom_writing *w, struct terminal *terminal)
{
    uint64_t permitted = 0, kept = BIT(CAP_DAC_READ_SEARCH);
    if (get_capabilities(&permitted) && !permitted)
        return;
    if (w->output && !writes_without(permitted, w->output))
        kept |= BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
    keep_capabilities(kept, terminal);
    if (!confine_process(w) && terminal->verbose)
        terminal_say(terminal, LOG_NOTE, "this kernel has no Landlock: only capabilities are given up");
}

void privilege_only_observe(const struct privilege_observing *o, struct terminal *terminal)
{
    uint64_t permitted = 0, kept = BIT(CAP_PERFMON) | BIT(CAP_BPF) | BIT(CAP_SYS_PTRACE) |
                                   BIT(CAP_DAC_READ_SEARCH) |
                                   BIT(CAP_CHECKPOINT_RESTORE) /* /proc/PID/map_files */;
    if (get_capabilities(&permitted) && !permitted)
        return;
    if (prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE, 0, 0, 0) < 0)
        kept |= BIT(CAP_SYS_ADMIN); /* before Linux 5.9 it includes some of these */
    if (o->output && strcmp(o->output, "-") != 0 && !writes_without(permitted, o->output))
        kept |= BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
    if (o->launched)
        kept |= BIT(CAP_KILL);
    if (o->opens_again)
        kept |= BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RESOURCE); /* the kernel's limits of rings and descriptors */
    keep_capabilities(kept, terminal);
}
