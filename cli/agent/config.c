/* config.c - see config.h. */
#include "cli/agent/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/agent/metrics.h"
#include "cli/phases_policy.h"

struct setting {
    const char *name;
    size_t at;
    bool text;
    uint64_t least, most; /* of numbers */
    const char *units;    /* letters, of which each is worth `times` */
    const uint64_t *times;
};

static const uint64_t seconds[] = {1, 60, 3600, 86400}, bytes[] = {1u << 10, 1u << 20, 1u << 30};

/* clang-format off */
static const struct setting settings[] = {
    {"store", offsetof(struct agent_config, store), true, 0, 0, NULL, NULL},
    {"credentials", offsetof(struct agent_config, credentials), true, 0, 0, NULL, NULL},
    {"spool", offsetof(struct agent_config, spool), true, 0, 0, NULL, NULL},
    {"host", offsetof(struct agent_config, host), true, 0, 0, NULL, NULL},
    {"events", offsetof(struct agent_config, events), true, 0, 0, NULL, NULL},
    {"listen", offsetof(struct agent_config, listen), true, 0, 0, NULL, NULL},
    {"phases-policy", offsetof(struct agent_config, phases_policy), true, 0, 0, NULL, NULL},
    {"trigger", offsetof(struct agent_config, trigger), true, 0, 0, NULL, NULL},
    {"control", offsetof(struct agent_config, control), true, 0, 0, NULL, NULL},
    {"frequency", offsetof(struct agent_config, frequency), false, 1, 999, "", NULL},
    {"phases", offsetof(struct agent_config, phase_ms), false, 100, 3600000, "", NULL},
    {"part", offsetof(struct agent_config, part_seconds), false, 1, 86400, "smhd", seconds},
    {"spool-limit", offsetof(struct agent_config, spool_bytes), false, 1u << 20, UINT64_C(1) << 50, "KMG", bytes},
};
/* clang-format on */
enum { SETTINGS = sizeof settings / sizeof *settings };

/* "5m", "300"; false: it is no such number. */
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

static const char *take_value(const struct setting *s, const char *value, struct agent_config *to)
{
    void *at = (char *)to + s->at;
    if (!s->text)
        return take_number(s, value, at) ? NULL : "the value is no number, or out of range";
    if (strlen(value) >= AGENT_TEXT)
        return "the value is too long";
    strcpy(at, value);
    return NULL;
}

/* What is wrong with the line; NULL: nothing. */
static const char *take_line(char *line, struct agent_config *to)
{
    line[strcspn(line, "#\n")] = '\0';
    char *name = line + strspn(line, " \t\r"), *end = line + strlen(line);
    while (end > name && strchr(" \t\r", end[-1]))
        *--end = '\0';
    if (!*name)
        return NULL;
    size_t length = strcspn(name, " \t");
    char *value = name + length + strspn(name + length, " \t");
    for (size_t i = 0; i < SETTINGS; i++)
        if (strlen(settings[i].name) == length && memcmp(settings[i].name, name, length) == 0)
            return *value ? take_value(&settings[i], value, to) : "it has no value";
    return "there is no such setting; fathom-agent(1) lists them";
}

/* What is wrong with when costly events are on. */
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

static const char *check(const struct agent_config *c)
{
    return !*c->store                       ? "it names no store"
           : *c->store == '-'               ? "no store's name begins with '-'"
           : strncmp(c->spool, "/", 1) != 0 ? "the spool must be an absolute path"
           : *c->listen && strncmp(c->listen, "127.0.0.1:", 10) != 0
               ? "metrics are told on the loopback alone: listen 127.0.0.1:PORT"
           : *c->listen && !metrics_port(c->listen) ? "there is no such port to listen on"
                                                    : check_phases(c);
}

int agent_config_read(const char *path, struct agent_config *out, struct fathom_error *err)
{
    struct agent_config c = {.spool = "/var/lib/fathom",
                             .events = "cpu-clock",
                             .frequency = 19,
                             .part_seconds = 300,
                             .spool_bytes = UINT64_C(1) << 30};
    char *line = NULL;
    size_t size = 0;
    unsigned number = 0;
    const char *wrong = NULL;
    FILE *in = fopen(path, "re");
    if (!in)
        return error_system(err, errno, "%s", path);
    while (!wrong && getline(&line, &size, in) > 0) {
        number++;
        wrong = take_line(line, &c);
    }
    free(line);
    int failed = ferror(in) ? errno : 0;
    fclose(in);
    if (failed)
        return error_system(err, failed, "%s", path);
    if (wrong)
        return error_set(err, EINVAL, "%s:%u: %s", path, number, wrong);
    if ((wrong = check(&c)))
        return error_set(err, EINVAL, "%s: %s", path, wrong);
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
