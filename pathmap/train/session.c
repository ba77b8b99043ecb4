/* session.c - a training session's directory and the server of its mailbox; see session.h. */
#include "pathmap/train/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "image/name.h"
#include "pathmap/train/plan_cache.h"
#include "pathmap/train/session_directory.h"
#include "pathmap/wire/mail.h"

/*
 * A word in shared memory in which the kernel marks the end of the thread that holds it.
 *
 * The word is on the thread's robust list (set_robust_list(2)): however the thread ends, even by SIGKILL, the
 * kernel sets FUTEX_OWNER_DIED in it at once, before its process is a zombie. Processes that share the memory
 * need no descriptor, no /proc and no common PID namespace to see it. The list itself is in private memory,
 * so writers of the shared one can at worst hide or fake the end.
 */
struct alive {
    struct robust_list_head head;
    struct robust_list entry;
    struct robust_list_head *before; /* the thread's own list, from the C library */
    size_t before_size;
    uint32_t *word; /* NULL: it is not held */
};

struct session_entry { /* a requested file */
    struct session_image image;
    dev_t device;
    ino_t inode;
    uint32_t status; /* enum mail_status */
    char plan[sizeof((struct mail *)0)->plan];
    char failure[sizeof((struct mail *)0)->reason];
};

struct session {
    struct session_options options;
    struct session_directory directory;
    struct mail *mail;
    struct alive alive; /* of mail->trainer */
    uint32_t turns;     /* mail->turns, which clients can write to */
    struct session_notes notes;
    struct plan_cache *plans;
    uint32_t answered; /* request_seq of the last answer */
    struct session_entry **entries;
    size_t entry_count, entry_capacity;
    size_t *chosen; /* those to be hooked */
    size_t chosen_count;
};

/* The calling thread holds *word from now on, until drop_alive() by the same thread; neither may move. Meanwhile the thread must not lock a
 * robust mutex of the C library. 0 or a negative errno. */
static int hold_alive(struct alive *alive, uint32_t *word)
{
    if (syscall(SYS_get_robust_list, 0, &alive->before, &alive->before_size) != 0)
        return -errno;
    alive->head.list.next = &alive->entry;
    alive->entry.next = &alive->head.list;
    alive->head.futex_offset = (long)((intptr_t)word - (intptr_t)&alive->entry);
    alive->head.list_op_pending = NULL;
    __atomic_store_n(word, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    if (syscall(SYS_set_robust_list, &alive->head, sizeof alive->head) != 0)
        return -errno;
    alive->word = word;
    return 0;
}

static void drop_alive(struct alive *alive)
{
    if (!alive->word)
        return;
    syscall(SYS_set_robust_list, alive->before, alive->before_size);
    __atomic_store_n(alive->word, 0, __ATOMIC_RELEASE);
    alive->word = NULL;
}

/* The seccomp filters of this process. */
static uint32_t count_filters(void)
{
    char line[256];
    unsigned filters = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "Seccomp_filters: %u", &filters) != 1)
        continue;
    if (status)
        fclose(status);
    return filters;
}

static int make_mailbox(struct session *s, struct fathom_error *err)
{
    int fd = openat(s->directory.fd, MAIL_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_system(err, errno, "cannot create a mailbox in %s", s->directory.path);
    int code = posix_fallocate(fd, 0, MAIL_SIZE);
    void *mapped = MAP_FAILED;
    if (code == 0) {
        mapped = mmap(NULL, MAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        code = mapped == MAP_FAILED ? errno : 0;
    }
    close(fd);
    if (code)
        return error_system(err, code, "cannot create a mailbox in %s", s->directory.path);
    s->mail = mapped;
    s->mail->filters = count_filters();
    s->mail->recording = s->options.recording;
    code = -hold_alive(&s->alive, &s->mail->trainer);
    if (code)
        return error_system(err, code,
                            "cannot register for notification by the kernel when the training ends");
    __atomic_store_n(&s->mail->magic, MAIL_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

int session_open(const struct session_options *options, struct session **out, struct fathom_error *err)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->options = *options;
    s->directory.fd = -1;
    struct session_about about = {.partial = options->sleds_only, .calls = options->no_map};
    if (options->output)
        snprintf(about.output, sizeof about.output, "%s", options->output);
    s->plans = plan_cache_open();
    int rc = s->plans ? 0 : error_memory(err);
    if (rc == 0)
        rc = session_directory_make(&s->directory, err);
    if (rc == 0)
        rc = session_directory_describe(&s->directory, &about, err);
    if (rc == 0)
        rc = make_mailbox(s, err);
    if (rc < 0)
        session_close(s);
    else
        *out = s;
    return rc;
}

const char *session_directory(const struct session *s)
{
    return s->directory.path;
}

bool session_wants(const struct session_options *options, const char *path)
{
    static const char probe[] = "libfathom-probe.";
    if (path[0] != '/' || name_begins(path, (const char *const[]){probe}, 1))
        return false;
    return options->name_count ? name_begins(path, options->names, options->name_count)
                               : !name_is_c_library(path);
}

static int write_plan(struct session *s, const char *name, const void *data, size_t size,
                      struct fathom_error *err)
{
    int fd = openat(s->directory.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_system(err, errno, "cannot write %s", name);
    int rc = file_write_all(fd, data, size, name, err);
    close(fd);
    return rc;
}

static int plan_image(struct session *s, struct session_entry *e, bool wanted, struct fathom_error *err)
{
    struct plan_options options = {.sleds_only = s->options.sleds_only, .calls_only = !wanted};
    struct plan_made made;
    int rc = plan_cache_get(s->plans, s->options.images, e->image.path, &options, &made, err);
    if (rc < 0)
        return rc;
    e->image.plan = made.summary;
    snprintf(e->plan, sizeof e->plan, "plan-%zu", s->entry_count);
    rc = write_plan(s, e->plan, made.data, made.size, err);
    free(made.data);
    return rc;
}

/* Decides on a file at its first request. */
static void judge_entry(struct session *s, struct session_entry *e)
{
    struct fathom_error err = {0};
    if (!session_wants(&s->options, e->image.path)) {
        e->status = plan_image(s, e, false, &err) < 0 ? MAIL_LEAVE : MAIL_CALLS;
        return;
    }
    e->status = MAIL_PLAN;
    if (plan_image(s, e, true, &err) < 0) {
        e->status = MAIL_FAILED;
        snprintf(e->failure, sizeof e->failure, "%.*s", (int)sizeof e->failure - 1, err.text);
        e->image.failure = e->failure;
        plan_summary_free(&e->image.plan);
    }
    s->chosen[s->chosen_count++] = s->entry_count;
}

static bool reserve_entry(struct session *s)
{
    size_t capacity = s->entry_capacity; /* of both arrays, though the first alone may have grown */
    return vec_reserve(s->entries, s->entry_count, capacity, 1) &&
           vec_reserve(s->chosen, s->entry_count, s->entry_capacity, 1);
}

/* The entry of a path; NULL with a reason if there can be none. */
static const struct session_entry *find_entry(struct session *s, const char *path, const char **reason)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        *reason = "its file no longer exists";
        return NULL;
    }
    for (size_t i = 0; i < s->entry_count; i++) {
        if (s->entries[i]->inode == st.st_ino && s->entries[i]->device == st.st_dev)
            return s->entries[i];
    }
    *reason = s->entry_count < SESSION_IMAGES_MAX ? "fathom train is out of memory"
                                                  : "there are more images than fathom train supports";
    if (s->entry_count >= SESSION_IMAGES_MAX || !reserve_entry(s))
        return NULL;
    struct session_entry *e = calloc(1, sizeof *e);
    char *copy = strdup(path);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    e->image.path = copy;
    e->device = st.st_dev;
    e->inode = st.st_ino;
    judge_entry(s, e);
    s->entries[s->entry_count++] = e;
    return e;
}

static void wake_futex(uint32_t *futex)
{
    syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void add_note(struct session_notes *notes, const struct session_note *note)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct session_note *known = &notes->all[i];
        if (known->kind == note->kind && known->detail == note->detail &&
            strcmp(known->path, note->path) == 0) {
            known->count++;
            return;
        }
    }
    if (notes->count == SESSION_NOTES_MAX)
        notes->lost++;
    else
        notes->all[notes->count++] = *note;
}

/* Takes the notes from the mailbox, making room there. It is hostile: texts in it are bounded and made safe. */
static void take_notes(struct session_notes *notes, struct mail *mail)
{
    for (size_t i = 0; i < MAIL_NOTES; i++) {
        struct mail_note *from = &mail->notes[i];
        if (__atomic_load_n(&from->state, __ATOMIC_ACQUIRE) != 2)
            continue;
        struct session_note note = {
            .kind = (enum mail_note_kind)from->kind, .detail = from->detail, .count = 1};
        memcpy(note.path, from->path, sizeof note.path - 1);
        __atomic_store_n(&from->state, 0, __ATOMIC_RELEASE);
        if ((unsigned)note.kind < NOTE_KINDS)
            add_note(notes, &note);
    }
    notes->lost += __atomic_exchange_n(&mail->notes_lost, 0, __ATOMIC_RELAXED);
}

bool session_serve(struct session *s, int timeout_ms)
{
    struct mail *mail = s->mail;
    uint32_t request = __atomic_load_n(&mail->request_seq, __ATOMIC_ACQUIRE);
    if (request == s->answered) {
        struct timespec wait = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
        syscall(SYS_futex, &mail->request_seq, FUTEX_WAIT, request, &wait, NULL, 0);
        request = __atomic_load_n(&mail->request_seq, __ATOMIC_ACQUIRE);
    }
    take_notes(&s->notes, mail);
    if (request == s->answered)
        return false;
    char path[sizeof mail->path];
    memcpy(path, mail->path, sizeof path);
    path[sizeof path - 1] = '\0';
    if (__atomic_load_n(&mail->request_seq, __ATOMIC_ACQUIRE) != request)
        return true; /* its writer timed out, and the next one is writing */

    const char *reason = "";
    const struct session_entry *e = find_entry(s, path, &reason);
    mail->status = e ? e->status : MAIL_FAILED;
    snprintf(mail->plan, sizeof mail->plan, "%s", e ? e->plan : "");
    snprintf(mail->reason, sizeof mail->reason, "%s", e ? e->failure : reason);
    s->answered = request;
    __atomic_store_n(&mail->reply_seq, request, __ATOMIC_RELEASE);
    wake_futex(&mail->reply_seq);
    return true;
}

void session_hooks(struct session *s, bool in)
{
    if ((s->turns & 1) == in)
        return;
    __atomic_store_n(&s->mail->turns, ++s->turns, __ATOMIC_RELEASE);
    wake_futex(&s->mail->turns);
}

const struct session_notes *session_notes(struct session *s)
{
    take_notes(&s->notes, s->mail);
    return &s->notes;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    if (s->mail) {
        __atomic_store_n(&s->mail->magic, 0, __ATOMIC_RELEASE);
        drop_alive(&s->alive);
        munmap(s->mail, MAIL_SIZE);
    }
    session_directory_remove(&s->directory);
    for (size_t i = 0; i < s->entry_count; i++) {
        free((void *)(uintptr_t)s->entries[i]->image.path);
        plan_summary_free(&s->entries[i]->image.plan);
        free(s->entries[i]);
    }
    plan_cache_close(s->plans);
    free(s->entries);
    free(s->chosen);
    free(s);
}

size_t session_image_count(const struct session *s)
{
    return s->chosen_count;
}

const struct session_image *session_image(const struct session *s, size_t index)
{
    return &s->entries[s->chosen[index]]->image;
}
