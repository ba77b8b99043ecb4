#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"

#define PROGRESS_NS   200000000u
#define SENTENCE_SIZE 1024

/* Cleans the text, as names in messages come from binaries and recordings. */
static void print_message(struct terminal *t, const char *kind, const char *text)
{
    char clean[SENTENCE_SIZE];
    snprintf(clean, sizeof clean, "%s", text);
    text_clean(clean);
    terminal_progress_end(t);
    fprintf(stderr, "%s: %s%s\n", t->command, kind, clean);
}

static void say_message(void *context, enum fathom_level level, const char *text)
{
    struct terminal *t = context;
    /* Another pass over the same recording would repeat its warnings. */
    uint32_t said = t->warnings ? names_count(t->warnings) : 0;
    if (level == FATHOM_WARNING && (!t->warnings || names_intern(t->warnings, text) >= said))
        print_message(t, "warning: ", text);
    else if (level == FATHOM_WARNING)
        return;
    else if (level == FATHOM_NOTE ? !t->quiet : t->verbose)
        print_message(t, "", text);
}

static void status_sink(void *context, const char *text)
{
    terminal_progress(context, "%s", text);
}

static void progress_sink(void *context, const char *what, uint64_t done, uint64_t all)
{
    struct terminal *t = context;
    if (all)
        terminal_progress(t, "%s: %u%%", what,
                          (unsigned)(100.0 * (double)(done < all ? done : all) / (double)all));
    else if (done)
        terminal_progress(t, "%s: %llu", what, (unsigned long long)done);
    else
        terminal_progress(t, "%s ...", what);
}

void terminal_init(struct terminal *t)
{
    bool person = isatty(STDERR_FILENO);
    *t = (struct terminal){
        .listener = {say_message, progress_sink, person ? status_sink : NULL, t, false},
        .command = "fathom",
        .stderr_is_person = person,
        .warnings = names_new(),
    };
}

void terminal_end(struct terminal *t)
{
    terminal_progress_end(t);
    names_free(t->warnings);
    t->warnings = NULL;
}

void terminal_error(struct terminal *t, const struct fathom_error *err)
{
    print_message(t, "error: ", err->text);
}

void terminal_wrong(struct terminal *t, const char *fmt, ...)
{
    char text[SENTENCE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    print_message(t, "error: ", text);
}

void terminal_print(const char *text)
{
    char *clean = strdup(text);
    if (!clean)
        return;
    text_clean(clean);
    fputs(clean, stdout);
    free(clean);
}

void terminal_say(struct terminal *t, enum log_level level, const char *fmt, ...)
{
    char text[SENTENCE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say_message(t, (enum fathom_level)level, text);
}

void terminal_progress(struct terminal *t, const char *fmt, ...)
{
    if (t->quiet || !t->stderr_is_person)
        return;
    uint64_t ns = clock_ns();
    if (t->progress_shown && ns - t->progress_ns < PROGRESS_NS)
        return;
    t->progress_ns = ns;
    t->progress_shown = true;
    char text[SENTENCE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_clean(text);
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
}

void terminal_progress_end(struct terminal *t)
{
    if (t->progress_shown)
        fputs("\r\033[K", stderr);
    t->progress_shown = false;
}

/* With a pager, stdout is still shown on the terminal. */
static int descriptor_of(FILE *out)
{
    return out == stdout ? STDOUT_FILENO : fileno(out);
}

bool terminal_colour(enum colour_when when, FILE *out)
{
    if (when != COLOUR_AUTO)
        return when == COLOUR_ALWAYS;
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(descriptor_of(out)) && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
}

unsigned terminal_width(FILE *out)
{
    struct winsize size;
    return ioctl(descriptor_of(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
