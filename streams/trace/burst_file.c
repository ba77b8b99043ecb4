/* burst_file.c - see burst_file.h. */
#include "streams/trace/burst_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "streams/trace/dense.h"

struct burst_file {
    struct file_view view;
    struct stream_header header;
    struct bytes left;
    struct stream_site sites[STREAM_SITES];
    uint64_t pc, datum; /* of the last record */
    uint64_t heap;      /* the sum of all STREAM_HEAP */
    unsigned run;       /* records to come that are as predicted */
};

static int check_header(const struct stream_header *h, const char *path, struct fathom_error *err)
{
    if (h->magic == STREAM_MAGIC && h->version == STREAM_VERSION && h->used >= sizeof *h)
        return 0;
    return error_set(err, EINVAL, "%s is not a trace of bursts, or of another version", path);
}

int burst_file_totals(const char *path, struct stream_header *out, struct fathom_error *err)
{
    struct file_view view;
    *out = (struct stream_header){0};
    int rc = file_view_open(path, &view, err);
    if (rc < 0)
        return rc;
    if (view.size >= sizeof *out)
        rc = file_view_copy_same(&view, 0, out, sizeof *out, err);
    file_view_close(&view);
    rc = rc == 0 ? check_header(out, path, err) : rc;
    if (rc < 0)
        *out = (struct stream_header){0};
    return rc;
}

int burst_file_open(const char *path, struct burst_file **out, struct fathom_error *err)
{
    struct burst_file *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(err);
    size_t used;
    int rc = dense_open(path, sizeof f->header, &f->view, err);
    if (rc == 0 && f->view.size >= sizeof f->header)
        memcpy(&f->header, f->view.data, sizeof f->header);
    if (rc == 0)
        rc = check_header(&f->header, path, err);
    if (rc == 0)
        rc = dense_read(&f->view, f->header.used, &used, err);
    if (rc == 0 && used < sizeof f->header)
        rc = error_set(err, EBADMSG, "%s has a hole where its header should be", path);
    if (rc < 0) {
        burst_file_close(f);
        return rc;
    }
    f->left = bytes_of(f->view.data + sizeof f->header, used - sizeof f->header);
    *out = f;
    return 0;
}

void burst_file_close(struct burst_file *f)
{
    if (f)
        file_view_close(&f->view);
    free(f);
}

const struct stream_header *burst_file_header(const struct burst_file *f)
{
    return &f->header;
}

/* Enters a record in the table as the runtime does (streams/runtime/writer.c). how: enum stream_datum. */
static int take_record(struct burst_file *f, uint64_t pc, unsigned how, struct burst_record *out)
{
    struct stream_site *last = &f->sites[stream_hash(f->pc)], *own = &f->sites[stream_hash(pc)];
    if (last->pc != f->pc)
        *last = (struct stream_site){.pc = f->pc};
    last->next = pc;
    if (own->pc != pc)
        *own = (struct stream_site){.pc = pc};
    uint64_t datum = own->datum + own->stride;
    if (how == STREAM_FROM_OWN)
        datum = own->datum + unzigzag(bytes_uleb(&f->left));
    else if (how == STREAM_FROM_LAST)
        datum = f->datum + unzigzag(bytes_uleb(&f->left));
    own->stride = datum - own->datum;
    own->datum = datum;
    f->pc = pc;
    f->datum = datum;
    *out = (struct burst_record){BURST_RECORD, pc, datum, 0};
    return f->left.failed ? -EBADMSG : 1;
}

/* The predicted instruction; 0: none. */
static uint64_t predicted_pc(const struct burst_file *f)
{
    const struct stream_site *last = &f->sites[stream_hash(f->pc)];
    return last->pc == f->pc ? last->next : 0;
}

static int take_control(struct burst_file *f, unsigned what, struct burst_record *out)
{
    static const enum burst_what whats[] = {BURST_BEGINS, BURST_LOST, BURST_ENDS, BURST_CONTEXT, BURST_HEAP};
    uint64_t number = bytes_uleb(&f->left);
    if (f->left.failed || what >= sizeof whats / sizeof *whats)
        return -EBADMSG;
    if (what == STREAM_HEAP)
        number = f->heap += number;
    *out = (struct burst_record){whats[what], 0, 0, number};
    return 1;
}

int burst_file_next(struct burst_file *f, struct burst_record *out)
{
    if (f->run) {
        f->run--;
        return take_record(f, predicted_pc(f), STREAM_PREDICTED, out);
    }
    if (f->left.failed)
        return -EBADMSG;
    if (!bytes_left(&f->left))
        return 0;
    unsigned tag = bytes_u8(&f->left), how = (tag & STREAM_CONTROL) >> 1;
    if ((tag & STREAM_CONTROL) == STREAM_CONTROL)
        return take_control(f, tag >> 4, out);
    if (how > STREAM_FROM_LAST) {
        f->left.failed = true;
        return -EBADMSG;
    }
    uint64_t pc = tag & 1 ? predicted_pc(f) : f->pc + unzigzag(bytes_uleb(&f->left));
    f->run = tag >> 4;
    return take_record(f, pc, how, out);
}
