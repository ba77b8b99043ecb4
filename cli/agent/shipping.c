#include "cli/agent/shipping.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/exit.h"

/* Whether the file is complete, and waits to be put into the store. */
static bool is_waiting(const struct spool_file *file)
{
    return !file->damaged && !file->growing;
}

static unsigned count_waiting(const struct spool *spool)
{
    unsigned count = 0;
    for (size_t i = 0; i < spool->count; i++)
        count += is_waiting(&spool->files[i]);
    return count;
}

/* malloc'd; NULL: out of memory. */
static char *path_in(const struct agent_config *config, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", config->spool, name) < 0 ? NULL : path;
}

/* Renames files that failed although others have been put into the store since, so that they do not delay the others. */
static void set_aside(struct shipping *s, const struct agent_config *config, const struct spool *spool)
{
    for (size_t i = 0; i < spool->count; i++) {
        const struct spool_file *file = &spool->files[i];
        if (!is_waiting(file) || !failures_blame(s->failures, file->name))
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

/* Reports a file that cannot be read at its first failure, and a failing store when its exit code changes. */
static void note_failure(struct shipping *s, const struct spool *spool, int code, const char *why)
{
    const bool own = code == EXIT_INPUT || code > 128; /* 128 + signal: its reader crashed */
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

/* The file will be put into the store again, which changes nothing there, and removed then, after all files that did not fail. */
static void note_unremoved(struct shipping *s, int code)
{
    if (failures_note(s->failures, path_base(s->path), FAILED_TO_REMOVE) == 1)
        terminal_say(s->terminal, LOG_WARNING, "%s is in the store, but cannot be removed: %s", s->path,
                     strerror(code));
    retry_later(&s->retry, s->random);
}

/* The store has acknowledged the file. */
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

/* Finds "sent": 1234 in the output of `store import`. */
static uint64_t bytes_sent(const char *output)
{
    static const char name[] = "\"sent\": ";
    const char *at = output ? strstr(output, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Finds the error among the messages on standard error, and passes on all others. NULL: there is none. */
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

/* The oldest of the complete files that failed least often. NULL: none is complete. */
static const struct spool_file *choose_file(const struct shipping *s, const struct spool *spool)
{
    const struct spool_file *found = NULL;
    unsigned least = 0;
    for (size_t i = 0; i < spool->count; i++) {
        const struct spool_file *file = &spool->files[i];
        const unsigned failures = is_waiting(file) ? failures_of(s->failures, file->name) : 0;
        if (is_waiting(file) && (!found || failures < least)) {
            least = failures;
            found = file;
        }
    }
    return found;
}

static int start_import(struct shipping *s, const struct agent_config *config, const char *known,
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
    int rc = known && s->path ? start_import(s, config, known, &err) : error_memory(&err);
    if (rc < 0) {
        terminal_error(s->terminal, &err);
        retry_later(&s->retry, s->random);
        free(s->path);
        s->path = NULL;
    }
    free(known);
}
