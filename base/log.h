/*
 * log.h - how libraries report anything other than failures.
 *
 * Libraries never print: they call the caller's sink, and the command line decides where a warning goes. A
 * struct log whose sink is NULL drops the text.
 */
#ifndef FATHOM_BASE_LOG_H
#define FATHOM_BASE_LOG_H

#include <stdarg.h>
#include <stdio.h>

enum log_level {
    LOG_DEBUG,   /* for developers of Fathom */
    LOG_NOTE,    /* a choice made for the user, such as a fallback event */
    LOG_WARNING, /* the result is less than requested */
};

struct log {
    void (*sink)(void *context, enum log_level level, const char *text); /* text: a sentence, no newline */
    void *context;
};

__attribute__((format(printf, 3, 4))) static inline void log_write(const struct log *log,
                                                                   enum log_level level, const char *fmt, ...)
{
    if (!log || !log->sink)
        return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log->sink(log->context, level, text);
}

#endif
