/*
 * mail_client.c - see mail_client.h and, for the protocol, mail.h.
 *
 * Called from the constructor and from dlopen; several processes and several link-map namespaces of one
 * process may call at once. Everything read from the shared file is bounded: other processes write it.
 */
#include "pathmap/probe/mail_client.h"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "base/raw.h"

#define SECOND  UINT64_C(1000000000)
#define STEP_NS 100000000u /* between checks on the lock's holder */

/* Sleeps while *word is value, one step at most. */
static void wait_futex(uint32_t *word, uint32_t value)
{
    struct timespec step = {0, STEP_NS};
    raw_call(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&step, 0, 0);
}

static void wake_futex(uint32_t *word, int waiters)
{
    raw_call(SYS_futex, (long)word, FUTEX_WAKE, waiters, 0, 0, 0);
}

static bool exchange_word(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool mail_is_over(const struct mail *mail)
{
    return __atomic_load_n(&mail->magic, __ATOMIC_ACQUIRE) != MAIL_MAGIC ||
           (__atomic_load_n(&mail->trainer, __ATOMIC_ACQUIRE) & FUTEX_OWNER_DIED);
}

struct mail *mail_open(const char *directory)
{
    char path[4096];
    size_t end = raw_append(path, sizeof path, 0, directory);
    end = raw_append(path, sizeof path, end, "/" MAIL_NAME);
    if (end + 1 >= sizeof path)
        return NULL;
    int fd = raw_open(path, O_RDWR | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    /* No lseek: a seccomp filter that the program was started under allows what the loader already did. */
    uint32_t magic = 0;
    bool whole = raw_read(fd, &magic, sizeof magic) == sizeof magic && magic == MAIL_MAGIC;
    long p = whole ? raw_mmap(0, MAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd) : -EINVAL;
    raw_close(fd);
    if (raw_failed(p))
        return NULL;
    struct mail *mail = (void *)p;
    if (mail_is_over(mail)) {
        raw_munmap(mail, MAIL_SIZE);
        return NULL;
    }
    return mail;
}

/* false: the trainer has ended. */
static bool take_lock(struct mail *mail, uint32_t me)
{
    uint32_t holder = 0;
    uint64_t since = 0;
    while (!exchange_word(&mail->lock, 0, me)) {
        uint32_t found = __atomic_load_n(&mail->lock, __ATOMIC_ACQUIRE);
        if (found == 0)
            continue;
        if (found != holder) {
            holder = found;
            since = raw_now_ns();
        }
        bool gone = raw_call(SYS_tkill, (long)holder, 0, 0, 0, 0, 0) == -ESRCH;
        if (gone || holder == me || raw_now_ns() - since > 2 * MAIL_PATIENCE * SECOND) {
            if (exchange_word(&mail->lock, holder, me))
                return true;
        } else if (mail_is_over(mail)) {
            return false;
        } else {
            wait_futex(&mail->lock, holder);
        }
    }
    return true;
}

static void drop_lock(struct mail *mail, uint32_t me)
{
    if (exchange_word(&mail->lock, me, 0))
        wake_futex(&mail->lock, 1);
}

/* Copies a text from the shared page, safely even if others change it meanwhile. */
static void copy_text(char *out, const char *from, size_t size)
{
    raw_copy(out, from, size);
    out[size - 1] = 0;
}

static bool has_slash(const char *text)
{
    for (; *text; text++)
        if (*text == '/')
            return true;
    return false;
}

static void fail_answer(struct mail_answer *out, const char *reason)
{
    out->status = MAIL_FAILED;
    raw_append(out->reason, sizeof out->reason, 0, reason);
}

/* Waits for the answer to `seq`; returns whether it has come. */
static bool await_answer(struct mail *mail, uint32_t seq)
{
    uint64_t start = raw_now_ns();
    for (;;) {
        uint32_t reply = __atomic_load_n(&mail->reply_seq, __ATOMIC_ACQUIRE);
        if (reply == seq)
            return true;
        if (mail_is_over(mail) || raw_now_ns() - start >= MAIL_PATIENCE * SECOND)
            return false;
        wait_futex(&mail->reply_seq, reply);
    }
}

bool mail_ask(struct mail *mail, const char *path, struct mail_answer *out)
{
    raw_fill(out, 0, sizeof *out);
    size_t length = raw_length(path);
    if (length >= sizeof mail->path) {
        fail_answer(out, "its path is too long");
        return true;
    }
    uint32_t me = raw_tid();
    if (!take_lock(mail, me)) {
        fail_answer(out, "the trainer has ended");
        return false;
    }
    raw_copy(mail->path, path, length + 1);
    uint32_t seq = __atomic_add_fetch(&mail->request_seq, 1, __ATOMIC_ACQ_REL);
    wake_futex(&mail->request_seq, INT32_MAX);
    bool answered = await_answer(mail, seq);
    if (answered) {
        out->status = mail->status;
        copy_text(out->plan, mail->plan, sizeof out->plan);
        copy_text(out->reason, mail->reason, sizeof out->reason);
    }
    drop_lock(mail, me);
    if (!answered)
        fail_answer(out, mail_is_over(mail) ? "the trainer has ended" : "the trainer does not answer");
    else if ((out->status == MAIL_PLAN || out->status == MAIL_CALLS) &&
             (!out->plan[0] || has_slash(out->plan)))
        fail_answer(out, "the trainer's answer is invalid");
    return answered;
}
