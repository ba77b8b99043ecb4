/* shared_rows.h - rows of options that several commands have. */
#ifndef FATHOM_CLI_SHARED_ROWS_H
#define FATHOM_CLI_SHARED_ROWS_H

#include "api/fathom.h"
#include "cli/options.h"

#define SYMFS_OPTION(type, member)                                                                           \
    OPTION_TEXT("symfs", 0, "DIR", type, member, "look for programs, libraries and debug files below DIR")

/* Switch off stages of inference. */
#define INFERENCE_NO_AUTOMATON(type, member)                                                                 \
    OPTION_FLAG("no-automaton", 0, type, member, "report contexts that training never saw as unknown")
#define INFERENCE_NO_TEMPORAL(type, member)                                                                  \
    OPTION_FLAG("no-temporal", 0, type, member,                                                              \
                "resolve each sample by itself, ignoring what its thread did before and after")
#define INFERENCE_NO_EM(type, member)                                                                        \
    OPTION_FLAG("no-em", 0, type, member, "do not learn path frequencies from ambiguous samples")

/* Select batches of a store. */
#define STORE_CREDENTIALS(type, member)                                                                      \
    OPTION_TEXT("credentials", 0, "FILE", type, member,                                                      \
                "of a server: a file that others may not read, with the line USER:PASSWORD")

/* For commands that report. member: a struct fathom_store_selection in the command's struct. */
#define STORE_SELECTION(type, member)                                                                        \
    OPTION_TEXT("store", 0, "STORE", type, member.url, "of what a store has ('fathom store')"),              \
        STORE_CREDENTIALS(type, member.credentials),                                                         \
        OPTION_TEXT("service", 0, "NAME", type, member.service, "with --store: of this service"),            \
        OPTION_TEXT("host", 0, "NAME", type, member.host, "with --store: of this host alone"),               \
        OPTION_TEXT("build", 0, "ID", type, member.build,                                                    \
                    "with --store: of the program whose build-id begins so"),                                \
        OPTION_TEXT("since", 0, "TIME", type, member.since,                                                  \
                    "with --store: from a time on: 30m, 6h, 2d ago, '2026-11-28 10:00' (UTC)"),              \
        OPTION_TEXT("until", 0, "TIME", type, member.until, "with --store: before a time")

/* -1: the options go together; else an exit code, and an error was printed. */
static inline int store_rows_check(const struct fathom_store_selection *s, struct terminal *terminal)
{
    const bool chooses = s->service || s->host || s->build || s->since || s->until || s->credentials;
    return s->url || !chooses
               ? -1
               : option_usage(terminal,
                              "--service, --host, --build, --since, --until and --credentials need --store");
}

#endif
