/* shipping.c - see shipping.h. */
#include "cli/agent/shipping.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/exit.h"

static bool waits(const struct spool_file *file)
{
    return !file->damaged && !file->growing;
}

static unsigned count_waiting(const struct spool *spool)
{
    unsigned count = 0;
    for (size_t i = 0; i < spool->count; i++)
        count += waits(&spool->files[i]);
    return count;
}

/* malloc'd; NULL: out of memory. */
static char *path_in(const struct agent_config *config, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", config->spool, name) < 0 ? NULL : path;
}

/* The file's fault, as others were put there since: it must not hold these up. */
static void set_aside(struct shipping *s, const struct agent_config *config, const struct spool *spool)
{
    for (size_t i = 0; i < spool->count; i++) {
        const struct spool_file *file = &spool->files[i];
        if (!waits(file) || !failures_blame(s->failures, file->name))
            continue;
        char *path = path_in(config, file->name), *aside = NULL;
        if (path && asprintf(&aside, "%s" SPOOL_DAMAGED, path) > 0) {
            bool moved = rename(path, aside) == 0;
            terminal_say(s->terminal, LOG_WARNING, "%s could not be put into the store %u times: %s%s", path,
                         failures_of(s->failures, file->name),
                         moved ? "it is now " : "and it cannot be renamed to ", aside);
            s->metrics->damaged += moved;
        }
        failures_forget(s->failures, file->name);
        free(aside);
        free(path);
    }
}

/* Said once: of a file that cannot be read at its first failure, of a store when how it fails changes. */
static void note_failure(struct shipping *s, const struct spool *spool, int code, const char *why)
{
    const bool own = code == EXIT_INPUT || code > 128; /* 128 + signal: what reads it crashed */
    const bool first =
        failures_note(s->failures, path_base(s->path), own ? FAILED_TO_READ : FAILED_TO_SHIP) == 1;
    s->metrics->failures++;
    retry_later(&s->retry, s->random);
    if (own ? first : code != s->failing)
        terminal_say(s->terminal, LOG_WARNING,
                     "%s cannot be put into the store: %s; recordings that wait: %u, tried again in %u s",
                     s->path, why, count_waiting(spool), retry_in(&s->retry));
    if (!own)
        s->failing = code;
}

/* It is put into the store again, which changes nothing there, and tried again: after all that did not fail. */
static void note_unremoved(struct shipping *s, int code)
{
    if (failures_note(s->failures, path_base(s->path), FAILED_TO_REMOVE) == 1)
        terminal_say(s->terminal, LOG_WARNING, "%s is in the store, but cannot be removed: %s", s->path,
                     strerror(code));
    retry_later(&s->retry, s->random);
}

/* The store has acknowledged it. */
static void note_success(struct shipping *s, const struct agent_config *config, const struct spool *spool)
{
    if (s->failing)
        terminal_say(s->terminal, LOG_NOTE, "the store answers again");
    s->failing = 0;
    if (unlink(s->path) != 0) {
        note_unremoved(s, errno);
        return;
    }
    s->metrics->shipped++;
    s->metrics->shipped_bytes += s->bytes;
    s->metrics->last_shipped = (uint64_t)time(NULL);
    s->retry = (struct retry){0};
    failures_forget(s->failures, path_base(s->path));
    failures_settle(s->failures);
    set_aside(s, config, spool);
}

/* "sent": 1234 of what `store import` prints. */
static uint64_t bytes_sent(const char *told)
{
    static const char name[] = "\"sent\": ";
    const char *at = told ? strstr(told, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Of what it printed on standard error the sentence that says why it failed; NULL: there is none. All else is said at once. */
static const char *find_error(struct shipping *s, char *errors)
{
    static const char error[] = "fathom store: error: ", warning[] = "fathom store: warning: ";
    const char *found = NULL;
    for (char *line; (line = strsep(&errors, "\n"));)
        if (strncmp(line, error, strlen(error)) == 0)
            found = line + strlen(error);
        else if (*line)
            terminal_say(s->terminal, LOG_WARNING, "%s: %s", s->path,
                         line + (strncmp(line, warning, strlen(warning)) == 0 ? strlen(warning) : 0));
    return found;
}

void shipping_end(struct shipping *s, const struct agent_config *config, const struct spool *spool)
{
    char *output, *errors, ended[64];
    int status;
    if (!child_ended(&s->child, &status))
        return;
    const int code = exit_code_of_status(status);
    child_told(&s->child, &output, &errors);
    const char *why = errors ? find_error(s, errors) : NULL;
    snprintf(ended, sizeof ended, "'fathom store import' has ended (exit code %d)", code);
    s->metrics->sent_bytes += bytes_sent(output);
    if (code == EXIT_OK)
        note_success(s, config, spool);
    else
        note_failure(s, spool, code, why ? why : ended);
    free(output);
    free(errors);
    free(s->path);
    s->path = NULL;
}

/* Of the complete files that failed least often the oldest. NULL: none is complete. */
static const struct spool_file *choose_file(const struct shipping *s, const struct spool *spool)
{
    const struct spool_file *found = NULL;
    unsigned least = 0;
    for (size_t i = 0; i < spool->count; i++) {
        const struct spool_file *file = &spool->files[i];
        const unsigned failures = waits(file) ? failures_of(s->failures, file->name) : 0;
        if (waits(file) && (!found || failures < least)) {
            least = failures;
            found = file;
        }
    }
    return found;
}

static int start(struct shipping *s, const struct agent_config *config, const char *known,
                 struct fathom_error *err)
{
    const char *argv[20] = {"fathom", "store", "import", "-q", "--json", "--known", known, "-i", s->path},
               **to = argv;
    while (*to)
        to++;
    if (*config->credentials) {
        *to++ = "--credentials";
        *to++ = config->credentials;
    }
    if (*config->host) {
        *to++ = "--host";
        *to++ = config->host;
    }
    *to++ = "--";
    *to = config->store;
    return child_start(&s->child, argv, true, -1, err);
}

void shipping_begin(struct shipping *s, const struct agent_config *config, const struct spool *spool)
{
    struct fathom_error err;
    const struct spool_file *file = !s->child.pid && retry_is_due(&s->retry) ? choose_file(s, spool) : NULL;
    if (!file)
        return;
    failures_keep(s->failures, spool);
    char *known = path_in(config, "known");
    s->path = path_in(config, file->name);
    s->bytes = file->bytes;
    int rc = known && s->path ? start(s, config, known, &err) : error_memory(&err);
    if (rc < 0) {
        terminal_error(s->terminal, &err);
        retry_later(&s->retry, s->random);
        free(s->path);
        s->path = NULL;
    }
    free(known);
}
