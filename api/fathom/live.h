/*
 * live.h - a report of a command or of running processes, or of the caller itself, at once, without a file in between.
 *
 * A caller with many rights gives up those that are not needed: most after opening, all but reading after the run.
 */
#ifndef FATHOM_LIVE_H
#define FATHOM_LIVE_H

#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_live;

/* As fathom_recorder_open() and fathom_report_open(), except that the recording's output and stack samples, and the report's
 * recording, event and output are not used. */
FATHOM_API int fathom_live_open(const struct fathom_recorder_options *record,
                                const struct fathom_report_options *report,
                                const struct fathom_listener *listener, struct fathom_live **out,
                                struct fathom_error *error);
/* Records into memory until the command or all processes have ended, the duration is over or fathom_live_stop() is called. To be
 * called once. */
FATHOM_API int fathom_live_run(struct fathom_live *live, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_live_stop(struct fathom_live *live);
/* Whether nothing was sampled is known, and told, once it is inferred. */
FATHOM_API void fathom_live_summary(const struct fathom_live *live, struct fathom_recorder_summary *summary);
/* Whether what was recorded can be reported: after a failed run, if there are samples. */
FATHOM_API bool fathom_live_usable(const struct fathom_live *live);
/* Then: as fathom_report_run(), fathom_report_write() and fathom_report_lacks(). After a run that did not fail, what was learned is
 * kept for later recordings unless the report's profile has no_cache. */
FATHOM_API int fathom_live_infer(struct fathom_live *live, struct fathom_error *error);
FATHOM_API int fathom_live_write(struct fathom_live *live, FILE *stream, struct fathom_error *error);
FATHOM_API unsigned fathom_live_lacks(const struct fathom_live *live);

/* A recording of the caller by itself, in place of the first two: opens it, and runs it in a thread of the library, which no signal
 * interrupts and which, with those that it starts, is not recorded. All threads that there are now are, and what these start, also
 * processes unless record->target.no_children; a thread that another one starts while the events are opened may be missed. What
 * record->target names is not used, and FATHOM_SCOPE_AUTO is FATHOM_SCOPE_THREAD.
 *
 * record: NULL: a clock, 997 samples per second of CPU time, no other processes. report: NULL: the default one without inlined functions, as
 * child processes read these, whose SIGCHLD the caller may see. With NULL nothing is kept for later recordings. The listener is told
 * from the thread, too, until fathom_live_finish() has returned.
 *
 * Where the kernel lets ordinary users sample their own processes (perf_event_paranoid 2 or less), no right is needed. Errors as of
 * fathom_live_open(). */
FATHOM_API int fathom_live_start(const struct fathom_recorder_options *record,
                                 const struct fathom_report_options *report,
                                 const struct fathom_listener *listener, struct fathom_live **out,
                                 struct fathom_error *error);
/* The same with what most callers choose alone. event: NULL: a clock; frequency: samples per second, 0: chosen from the event; format: of fathom_report_formats,
 * NULL: text. */
FATHOM_API int fathom_live_start_as(const char *event, uint64_t frequency, const char *format,
                                    const struct fathom_listener *listener, struct fathom_live **out,
                                    struct fathom_error *error);
/* Then, once: ends the run, waits for its thread, and infers as fathom_live_infer() does. The profile can be written if it returns 0. Errors as of that
 * and of fathom_live_run(). By any thread that was there before or after the start. */
FATHOM_API int fathom_live_finish(struct fathom_live *live, struct fathom_error *error);

/* Ends and waits for a run that was started. NULL is allowed. */
FATHOM_API void fathom_live_close(struct fathom_live *live);

#ifdef __cplusplus
}
#endif

#endif
