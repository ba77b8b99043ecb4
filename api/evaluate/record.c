/* record.c - records a target with a stack dump in every sample, to evaluate it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/evaluate/evaluating.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"

#define STACK_BYTES 65528
#define AUDIT_HZ    10

static int make_temporary(struct fathom_evaluation *e, struct fathom_error *err)
{
    const char *directory = getenv("TMPDIR");
    if (asprintf(&e->temporary, "%s/fathom-XXXXXX", directory && *directory ? directory : "/tmp") < 0) {
        e->temporary = NULL;
        return error_memory(err);
    }
    int fd = mkstemp(e->temporary);
    if (fd < 0)
        return error_system(err, errno, "cannot create %s", e->temporary);
    close(fd);
    return 0;
}

int evaluate_record_open(struct fathom_evaluation *e, struct fathom_error *err)
{
    struct fathom_evaluation_options *o = &e->options;
    int rc = o->output ? 0 : make_temporary(e, err);
    if (rc < 0)
        return rc;
    o->recording = e->temporary ? e->temporary : o->output;
    if (!o->target.stack_bytes && !o->truth)
        o->target.stack_bytes = STACK_BYTES;
    target_collector(&o->target, &e->host.log, &e->collect);
    bool adapts = o->audit_hz == FATHOM_AUDIT_DEFAULT;
    e->collect.audit_hz = adapts ? AUDIT_HZ : o->audit_hz;
    e->collect.audit_instead = e->collect.audit_adapts = adapts;
    e->collect.audit_stack_size = STACK_BYTES;
    return collector_open(&e->collect, &e->collector, err);
}

int evaluate_record(struct fathom_evaluation *e, struct fathom_error *err)
{
    const char *path = e->options.recording;
    struct writer *writer = NULL;
    struct mapped_sink *sink = NULL;
    struct learning *learning = NULL;
    const struct event *events;
    size_t count = collector_events(e->collector, &events);
    int rc = writer_open(path, events, count, &writer, err);
    if (rc == 0 && writer_is_stream(writer))
        rc = error_set(err, EINVAL, "%s: the recording is read again, so it needs a regular file", path);
    if (rc == 0)
        rc = learning_new(e->collector, &e->collect, false, false, writer_append, writer, &learning, err);
    if (rc == 0)
        rc = mapped_sink_new(&(struct mapped_sink_input){.events = events,
                                                         .count = count,
                                                         .log = &e->host.log,
                                                         .next = learning_add,
                                                         .context = learning,
                                                         .names = &e->host.log},
                             &sink, err);
    if (rc == 0) {
        writer_keep_old(writer);
        rc = target_observe(&e->options.target, e->collector,
                            &(struct target_user){.sink = mapped_sink_add, .sink_context = sink}, &e->stop,
                            NULL, err);
    }
    if (rc == 0) {
        mapped_sink_finish(sink);
        rc = mapped_sink_build_ids(sink, writer, err);
    }
    if (rc == 0)
        rc = mapped_sink_names(sink, writer, err);
    if (rc == 0)
        rc = writer_close(writer, err);
    else if (writer)
        writer_discard(writer);
    learning_free(learning);
    mapped_sink_free(sink);
    collector_close(e->collector);
    e->collector = NULL;
    return rc;
}
