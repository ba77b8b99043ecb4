#include "api/doctor/trial_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 24
#define SAID_MAX  4096 /* bytes of messages to keep */

static const char *const workload_names[] = {
    [FATHOM_WORKLOAD_CALLS] = "calls", [FATHOM_WORKLOAD_MEMORY] = "memory"};

/* The command line of a check; its words are not copied. */
static void make_words(const struct trial_result *result, const char *self, char *words[WORDS_MAX])
{
    const char *const *argument = result->trial->arguments;
    size_t count = 0;
    words[count++] = (char *)(uintptr_t)self;
    while (*argument)
        words[count++] = (char *)(uintptr_t)*argument++;
    const char *const rest[] = {
        "-o", result->recording, "--", self, "doctor", "--workload", workload_names[result->trial->workload]};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        words[count++] = (char *)(uintptr_t)rest[i];
    words[count] = NULL;
}

/* Runs fathom until it ends. Returns its exit code, or a negative errno. */
static int run_fathom(char *const *words, const char *out, const char *said)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int code = posix_spawn(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code)
        return -code;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The beginning of a file; NULL: it is empty, or cannot be read. */
static char *read_beginning(const char *path)
{
    char *text = malloc(SAID_MAX + 1);
    FILE *file = text ? fopen(path, "re") : NULL;
    size_t size = file ? fread(text, 1, SAID_MAX, file) : 0;
    if (file)
        fclose(file);
    if (size) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static void read_memory(const char *path, struct trial_memory *memory)
{
    FILE *file = fopen(path, "re");
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "memory %" SCNx64 " %" SCNx64, &memory->start, &memory->size) == 2)
            break;
    if (file)
        fclose(file);
}

static int record_trial(struct trial_result *result, const char *self, const char *directory,
                        struct fathom_error *err)
{
    char *words[WORDS_MAX], *out = NULL, *said = NULL;
    uint64_t before = 0, after = 0;
    int rc = -ENOMEM;
    if (asprintf(&result->recording, "%s/%s.data", directory, result->trial->id) >= 0 &&
        asprintf(&out, "%s/%s.out", directory, result->trial->id) >= 0 &&
        asprintf(&said, "%s/%s.said", directory, result->trial->id) >= 0) {
        make_words(result, self, words);
        result->seen.counted = trial_interrupts(&fact_places_here, &before);
        rc = run_fathom(words, out, said);
        result->seen.counted = result->seen.counted && trial_interrupts(&fact_places_here, &after);
        result->seen.interrupts = after - before;
        result->said = read_beginning(said);
        read_memory(out, &result->memory);
    }
    free(out);
    free(said);
    if (rc < 0)
        return error_system(err, -rc, "cannot run %s", self);
    result->ran = true;
    result->status = rc;
    return 0;
}

int hardware_trials_record(const struct doctor_machine *machine, const char *directory,
                           struct trial_result *results, const struct host *host, struct fathom_error *err)
{
    int rc = machine->self[0] ? 0 : error_system(err, ENOENT, "cannot find this program's file");
    for (size_t i = 0; i < trial_count; i++) {
        results[i] = (struct trial_result){.trial = &hardware_trials[i]};
        const char *absent = trial_absent(&hardware_trials[i], machine, &pmus_here);
        if (absent)
            snprintf(results[i].verdict.why, sizeof results[i].verdict.why, "%s", absent);
        if (absent)
            results[i].verdict.state = TRIAL_ABSENT;
        if (absent || rc < 0)
            continue;
        host_status(host, "check %zu of %zu: %s", i + 1, trial_count, hardware_trials[i].title);
        rc = record_trial(&results[i], machine->self, directory, err);
    }
    return rc;
}

/* The last line of the messages. */
static void take_last_line(const char *said, char *out, size_t size)
{
    const char *end = said ? said + strlen(said) : NULL, *start;
    while (end > said && end[-1] == '\n')
        end--;
    for (start = end; start > said && start[-1] != '\n';)
        start--;
    snprintf(out, size, "%.*s", (int)(end - start), end ? start : "");
}

void hardware_trials_judge(struct trial_result *results, const char *self)
{
    for (size_t i = 0; i < trial_count; i++) {
        struct trial_result *r = &results[i];
        struct fathom_error err = {0};
        char line[300] = "";
        if (!r->ran)
            continue;
        if (r->status) {
            take_last_line(r->said, line, sizeof line);
            r->verdict.state = TRIAL_WRONG;
            snprintf(r->verdict.why, sizeof r->verdict.why, "no recording, exit code %d: %s", r->status,
                     line);
        } else if (trial_read(r->trial, r->recording, self, &r->memory, &r->seen, &err) < 0) {
            r->verdict.state = TRIAL_WRONG;
            snprintf(r->verdict.why, sizeof r->verdict.why, "the recording cannot be read: %.300s", err.text);
        } else {
            r->trial->judge(r->trial, &r->seen, &r->verdict);
        }
    }
}

void hardware_trials_free(struct trial_result *results)
{
    for (size_t i = 0; i < trial_count; i++) {
        free(results[i].recording);
        free(results[i].said);
    }
}

void hardware_trials_add(struct rows *rows, const struct trial_result *results)
{
    static const enum fathom_finding_state states[TRIAL_STATES] = {[TRIAL_RIGHT] = FATHOM_FINDING_OK,
                                                                   [TRIAL_WRONG] = FATHOM_FINDING_FAIL,
                                                                   [TRIAL_ABSENT] = FATHOM_FINDING_NOTE};
    rows->group = "checks";
    for (size_t i = 0; i < trial_count; i++) {
        const struct trial_result *r = &results[i];
        rows_add(rows, r->trial->id, r->trial->title, states[r->verdict.state], "%s: %s",
                 trial_states[r->verdict.state], r->verdict.why);
        if (r->verdict.state == TRIAL_WRONG && !rows->failed)
            rows_costs(rows, "right would be: %s", r->trial->right);
    }
}

enum fathom_doctor_check hardware_trials_code(const struct trial_result *results)
{
    bool counters = false;
    for (size_t i = 0; i < trial_count; i++) {
        if (results[i].verdict.state == TRIAL_WRONG)
            return FATHOM_CHECK_WRONG;
        counters |=
            results[i].verdict.state == TRIAL_RIGHT && hardware_trials[i].needs & TRIAL_NEEDS_COUNTERS;
    }
    return counters ? FATHOM_CHECK_RIGHT : FATHOM_CHECK_NONE;
}
