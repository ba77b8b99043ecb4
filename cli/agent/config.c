#include "cli/agent/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/slips.h"
#include "agent/metrics.h"
#include "cli/phases_policy.h"

#define CONFIG_MOST (1u << 20) /* bytes */

struct setting {
    const char *name;
    size_t at;
    const char *range; /* of a number: describes `least` to `most`, for messages; NULL: a text */
    uint64_t least, most;
    const char *units; /* letters; the values of these are in `times` */
    const uint64_t *times;
};

static const uint64_t seconds[] = {1, 60, 3600, 86400}, bytes[] = {1u << 10, 1u << 20, 1u << 30};

/* clang-format off */
static const struct setting settings[] = {
    {"store", offsetof(struct agent_config, store), NULL, 0, 0, NULL, NULL},
    {"credentials", offsetof(struct agent_config, credentials), NULL, 0, 0, NULL, NULL},
    {"spool", offsetof(struct agent_config, spool), NULL, 0, 0, NULL, NULL},
    {"host", offsetof(struct agent_config, host), NULL, 0, 0, NULL, NULL},
    {"events", offsetof(struct agent_config, events), NULL, 0, 0, NULL, NULL},
    {"listen", offsetof(struct agent_config, listen), NULL, 0, 0, NULL, NULL},
    {"phases-policy", offsetof(struct agent_config, phases_policy), NULL, 0, 0, NULL, NULL},
    {"trigger", offsetof(struct agent_config, trigger), NULL, 0, 0, NULL, NULL},
    {"control", offsetof(struct agent_config, control), NULL, 0, 0, NULL, NULL},
    {"frequency", offsetof(struct agent_config, frequency), "a whole number from 1 to 999 (samples per second)", 1, 999, "", NULL},
    {"phases", offsetof(struct agent_config, phase_ms), "a whole number from 100 to 3600000 (milliseconds)", 100, 3600000, "", NULL},
    {"part", offsetof(struct agent_config, part_seconds), "a time from 1s to 1d (s, m, h, d)", 1, 86400, "smhd", seconds},
    {"spool-limit", offsetof(struct agent_config, spool_bytes), "a size from 1M to 1048576G (K, M, G)", 1u << 20, UINT64_C(1) << 50, "KMG", bytes},
};
/* clang-format on */
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Parses a number with or without a unit: "5m", "300". */
static bool take_number(const struct setting *s, const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(s->units, *end) : NULL;
    if (errno || text[0] < '0' || text[0] > '9' || (*end && (!unit || end[1])))
        return false;
    uint64_t times = unit ? s->times[unit - s->units] : 1, value;
    if (__builtin_mul_overflow((uint64_t)number, times, &value) || value < s->least || value > s->most)
        return false;
    *out = value;
    return true;
}

static int take_value(const struct setting *s, const char *value, struct agent_config *to,
                      struct fathom_error *err)
{
    void *at = (char *)to + s->at;
    if (!*value)
        return error_set(err, EINVAL, "%s has no value", s->name);
    if (s->range)
        return take_number(s, value, at)
                   ? 0
                   : error_set(err, EINVAL, "%s: '%.40s' is not %s", s->name, value, s->range);
    if (strlen(value) >= AGENT_TEXT)
        return error_set(err, EINVAL, "the value of %s has more than %d bytes", s->name, AGENT_TEXT - 1);
    strcpy(at, value);
    return 0;
}

static int refuse_name(const char *name, struct fathom_error *err)
{
    const char *like = NULL;
    unsigned fewest = SLIPS_MOST + 1;
    for (size_t i = 0; i < SETTINGS; i++)
        if (slips_are_few(name, settings[i].name, &fewest))
            like = settings[i].name;
    return error_set(err, EINVAL, "there is no setting '%.40s'%s%s%s; fathom-agent(1) lists them", name,
                     like ? ": did you mean '" : "", like ? like : "", like ? "'?" : "");
}

/* set: has a bit for each setting of an earlier line. */
static int take_line(char *line, struct agent_config *to, uint32_t *set, struct fathom_error *err)
{
    _Static_assert(SETTINGS <= 32, "a bit each");
    line[strcspn(line, "#")] = '\0';
    char *name = line + strspn(line, " \t\r"), *end = line + strlen(line);
    while (end > name && strchr(" \t\r", end[-1]))
        *--end = '\0';
    if (!*name)
        return 0;
    char *value = name + strcspn(name, " \t");
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (*set >> i & 1)
            return error_set(err, EINVAL, "%s is set by a line above, too: remove one", name);
        *set |= UINT32_C(1) << i;
        return take_value(&settings[i], value, to, err);
    }
    return refuse_name(name, err);
}

static int take_lines(const char *path, char *text, size_t size, struct agent_config *to,
                      struct fathom_error *err)
{
    unsigned number = 0;
    uint32_t set = 0;
    struct fathom_error wrong;
    for (char *line; (line = strsep(&text, "\n"));) {
        const size_t length = strlen(line);
        number++;
        if (length != (text ? (size_t)(text - line) - 1 : size))
            return error_set(err, EINVAL, "%s:%u: there is a NUL byte in it", path, number);
        size -= text ? length + 1 : length;
        if (take_line(line, to, &set, &wrong) < 0)
            return error_set(err, wrong.code, "%s:%u: %s", path, number, wrong.text);
    }
    return 0;
}

/* Explains what is wrong with the settings about phases. NULL: nothing. */
static const char *check_phases(const struct agent_config *c)
{
    enum fathom_interval_policy policy;
    uint64_t share;
    return !c->phase_ms              ? *c->phases_policy || *c->trigger || *c->control
                                           ? "phases-policy, trigger and control tell when the events of phases are on"
                                           : NULL
           : !strchr(c->events, ',') ? "phases switches the events after the first one: name some in 'events'"
           : *c->phases_policy && !phases_policy_take(c->phases_policy, &policy, &share)
               ? "there is no such phases-policy; fathom-record(1) lists them"
           : *c->control && *c->control != '/' ? "the control socket must be an absolute path"
                                               : NULL;
}

/* Relative paths are refused, as a systemd service runs in "/", unlike an agent that is started by hand. */
static bool is_relative_file(const char *store)
{
    const char *file = strncmp(store, "sqlite:", 7) == 0 ? store + 7 : store;
    return *file != '/' && (file != store || !strstr(store, "://"));
}

/* Explains what is wrong with the settings. NULL: nothing. */
static const char *check_settings(const struct agent_config *c)
{
    return !*c->store ? "it names no store: 'store sqlite:/var/lib/fathom/store.db' is a file on this machine"
           : *c->store == '-' ? "no store's name begins with '-'"
           : is_relative_file(c->store)
               ? "the file of a store must be an absolute path, as sqlite:/var/lib/fathom/store.db"
           : strncmp(c->spool, "/", 1) != 0 ? "the spool must be an absolute path"
           : *c->listen && strncmp(c->listen, "127.0.0.1:", 10) != 0
               ? "metrics are told on the loopback alone: listen 127.0.0.1:PORT"
           : *c->listen && !metrics_port(c->listen) ? "there is no such port to listen on"
                                                    : check_phases(c);
}

/* Checks what the recorder and `fathom store import` would refuse when they start. */
static int check_use(const struct agent_config *c, struct fathom_error *err)
{
    const struct fathom_recorder_options o = {
        .target = {.event = c->events, .frequency = c->frequency, .everyone = true},
        .phase_interval = (double)c->phase_ms,
        .trigger = *c->trigger ? c->trigger : NULL};
    int rc = fathom_recorder_check(&o, err);
    return rc < 0 ? rc : fathom_store_check(c->store, *c->credentials ? c->credentials : NULL, err);
}

static int read_text(const char *path, char **text, size_t *size, struct fathom_error *err)
{
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return error_set(err, ENOENT, "there is no configuration %s: write one, see fathom-agent(1)", path);
    int fd = file_open_regular(path, err);
    if (fd < 0)
        return fd;
    int rc = file_read_text(fd, CONFIG_MOST, text, size);
    close(fd);
    return rc == -EFBIG ? error_set(err, EBADMSG, "%s is no configuration: it has more than 1 MB", path)
           : rc < 0     ? error_system(err, -rc, "cannot read %s", path)
                        : 0;
}

int agent_config_read(const char *path, struct agent_config *out, struct fathom_error *err)
{
    struct agent_config c = {.spool = "/var/lib/fathom",
                             .events = "cpu-clock",
                             .frequency = 19,
                             .part_seconds = 300,
                             .spool_bytes = UINT64_C(1) << 30};
    struct fathom_error why;
    char *text = NULL;
    size_t size;
    int rc = read_text(path, &text, &size, err);
    if (rc == 0)
        rc = take_lines(path, text, size, &c, err);
    free(text);
    if (rc < 0)
        return rc;
    const char *wrong = check_settings(&c);
    if (wrong)
        return error_set(err, EINVAL, "%s: %s", path, wrong);
    if (check_use(&c, &why) < 0)
        return error_set(err, why.code, "%s: %s", path, why.text);
    *out = c;
    return 0;
}

bool agent_config_records_alike(const struct agent_config *a, const struct agent_config *b)
{
    return strcmp(a->spool, b->spool) == 0 && strcmp(a->events, b->events) == 0 &&
           a->frequency == b->frequency && a->part_seconds == b->part_seconds && a->phase_ms == b->phase_ms &&
           strcmp(a->phases_policy, b->phases_policy) == 0 && strcmp(a->trigger, b->trigger) == 0 &&
           strcmp(a->control, b->control) == 0;
}
