/* terminal.c - see terminal.h. */
#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_NS 200000000u

static void say(struct terminal *t, const char *kind, const char *text)
{
    terminal_progress_end(t);
    fprintf(stderr, "%s: %s%s\n", t->command, kind, text);
}

static void log_sink(void *context, enum log_level level, const char *text)
{
    struct terminal *t = context;
    if (level == LOG_WARNING)
        say(t, "warning: ", text);
    else if (level == LOG_NOTE ? !t->quiet : t->verbose)
        say(t, "", text);
}

void terminal_init(struct terminal *t)
{
    *t = (struct terminal){
        .log = {log_sink, t}, .command = "fathom", .stderr_is_person = isatty(STDERR_FILENO)};
}

void terminal_error(struct terminal *t, const struct fathom_error *err)
{
    say(t, "", err->text);
}

void terminal_say(struct terminal *t, enum log_level level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_sink(t, level, text);
}

void terminal_progress(struct terminal *t, const char *fmt, ...)
{
    if (t->quiet || !t->stderr_is_person)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (t->progress_shown && ns - t->progress_ns < PROGRESS_NS)
        return;
    t->progress_ns = ns;
    t->progress_shown = true;
    va_list ap;
    va_start(ap, fmt);
    fputs("\r", stderr);
    vfprintf(stderr, fmt, ap);
    fputs("\033[K", stderr);
    fflush(stderr);
    va_end(ap);
}

void terminal_progress_end(struct terminal *t)
{
    if (t->progress_shown)
        fputs("\r\033[K", stderr);
    t->progress_shown = false;
}

int terminal_colour(const char *when, FILE *out)
{
    if (strcmp(when, "always") == 0)
        return 1;
    if (strcmp(when, "never") == 0)
        return 0;
    if (strcmp(when, "auto") != 0)
        return -1;
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
}
