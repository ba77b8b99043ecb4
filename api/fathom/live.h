/*
 * live.h - records a command, running processes or the caller itself and reports it directly, without a file in between.
 *
 * A privileged caller should give up the rights that are no longer needed: most after opening, all but reading after the run.
 */
#ifndef FATHOM_LIVE_H
#define FATHOM_LIVE_H

#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_live;

/* Like fathom_recorder_open() and fathom_report_open() together; the recording's output and stack samples, and the report's recording,
 * event and output are not used. */
FATHOM_API int fathom_live_open(const struct fathom_recorder_options *record,
                                const struct fathom_report_options *report,
                                const struct fathom_listener *listener, struct fathom_live **out,
                                struct fathom_error *error);
/* Records into memory until the command or all processes have ended, the duration is over or fathom_live_stop() is called. Call it
 * once. */
FATHOM_API int fathom_live_run(struct fathom_live *live, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_live_stop(struct fathom_live *live);
/* summary->nothing is known, and reported to the listener, only after fathom_live_infer(). */
FATHOM_API void fathom_live_summary(const struct fathom_live *live, struct fathom_recorder_summary *summary);
/* Whether a report can be made of the recorded data; after a failed run, whether there are samples. */
FATHOM_API bool fathom_live_usable(const struct fathom_live *live);
/* After the run: like fathom_report_run(), fathom_report_write() and fathom_report_lacks(). Unless the run failed or the report's profile
 * has no_cache, what was learned is stored for later recordings. */
FATHOM_API int fathom_live_infer(struct fathom_live *live, struct fathom_error *error);
FATHOM_API int fathom_live_write(struct fathom_live *live, FILE *stream, struct fathom_error *error);
FATHOM_API unsigned fathom_live_lacks(const struct fathom_live *live);

/* Records the caller itself, in place of fathom_live_open() and fathom_live_run(): opens the recording and runs it in a thread of the
 * library, which no signal interrupts. All existing threads are recorded, and what they start, processes too unless
 * record->target.no_children; the library's thread and its children are not. A thread that another one starts while the events are
 * opened may be missed. The processes that record->target names are ignored, and FATHOM_SCOPE_AUTO means FATHOM_SCOPE_THREAD.
 *
 * record: NULL: a clock, 997 samples per second of CPU time, no other processes. report: NULL: the default without inlined functions,
 * since child processes read these, and the caller may see their SIGCHLD; then nothing is stored for later recordings. The library's
 * thread may call the listener, too, until fathom_live_finish() has returned.
 *
 * No rights are needed where the kernel lets ordinary users sample their own processes (perf_event_paranoid 2 or less). Errors: as
 * fathom_live_open(). */
FATHOM_API int fathom_live_start(const struct fathom_recorder_options *record,
                                 const struct fathom_report_options *report,
                                 const struct fathom_listener *listener, struct fathom_live **out,
                                 struct fathom_error *error);
/* The same with only the most common options. event: NULL: a clock; frequency: samples per second, 0: chosen from the event; format: one
 * of fathom_report_formats, NULL: text. */
FATHOM_API int fathom_live_start_as(const char *event, uint64_t frequency, const char *format,
                                    const struct fathom_listener *listener, struct fathom_live **out,
                                    struct fathom_error *error);
/* Ends a run that fathom_live_start() began, waits for its thread, and infers as fathom_live_infer() does. Call it once, from any thread.
 * If it returns 0, the profile can be written. Errors: as fathom_live_infer() and fathom_live_run(). */
FATHOM_API int fathom_live_finish(struct fathom_live *live, struct fathom_error *error);

/* Ends a run that was started, and waits for it. NULL is allowed. */
FATHOM_API void fathom_live_close(struct fathom_live *live);

#ifdef __cplusplus
}
#endif

#endif
