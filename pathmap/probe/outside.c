/*
 * outside.c - see outside.h.
 *
 * /proc/self/task/TID/syscall says where a thread waits in the kernel. A running thread is sent a signal, whose
 * handler records where it is. The signal is the C library's first one (SIGCANCEL), which programs cannot block
 * (NPTL's internal signals, sysdeps/unix/sysv/linux/internal-signals.h); signals that are not ours are passed to
 * the library's own handler, once it has one. It cannot be SIGTRAP: of two pending ones one is lost, even that of
 * an int3. A thread in a signal handler will continue where it was interrupted: its stack is searched for the
 * frames that the kernel made for handlers (struct rt_sigframe, arch/x86/include/asm/sigframe.h), which begin
 * with the address of a signal's restorer.
 */
#include "pathmap/probe/outside.h"

#include <linux/futex.h>
#include <signal.h>
#include <time.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "pathmap/probe/core.h"
#include "pathmap/probe/leave.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"
#include "pathmap/probe/trap.h"
#include "pathmap/probe/vma.h"

#define ASK_SIGNAL   32        /* sigaction() and signal masks leave it to the library */
#define ASK_CODE     (-0x4654) /* marks our signals */
#define PATIENCE_NS  200000000 /* until all threads were outside */
#define STEP_NS      200000    /* between two checks, without an answer */
#define THREADS_MOST 8192u     /* with more, none is examined */
#define SIGNALS      64
#define RESTORERS    8           /* limit of different ones: libc has one */
#define HANDLERS     16          /* nested ones, at most */
#define STACK_MOST   (64u << 20) /* bytes of a stack to search: an alternate one may be in the heap */

/* A thread and its answer. */
struct thread_at {
    uint32_t tid;
    uint32_t asked, answered; /* rounds of the last question and of the last answer; 0: none */
    bool outside;
    uint64_t pc, sp;
};

static struct {
    struct thread_at threads[THREADS_MOST];
    uint32_t count, round;
    uint32_t wake; /* futex: the number of answers */
    uint64_t restorers[RESTORERS];
    unsigned restorer_count; /* 0: the program handles no signal */
    bool (*inside)(uint64_t pc);
    void (*other)(int sig, siginfo_t *info, void *context); /* the library's handler; NULL: none */
} state;

static void answer_signal(int sig, siginfo_t *info, void *context)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    void (*other)(int, siginfo_t *, void *) = __atomic_load_n(&state.other, __ATOMIC_ACQUIRE);
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != ASK_CODE) {
        if (other)
            other(sig, info, context);
        return;
    }
    struct thread_at *t = &state.threads[(uint32_t)value % THREADS_MOST];
    if (__atomic_load_n(&t->asked, __ATOMIC_ACQUIRE) != value >> 32 || t->tid != raw_tid())
        return; /* too late */
    t->pc = (uint64_t)registers[REG_RIP];
    t->sp = (uint64_t)registers[REG_RSP];
    __atomic_store_n(&t->answered, (uint32_t)(value >> 32), __ATOMIC_RELEASE);
    __atomic_fetch_add(&state.wake, 1, __ATOMIC_RELEASE);
    raw_call(SYS_futex, (long)&state.wake, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Installs our handler. The library sets its own when it first needs it. That may not return (pthread_cancel), so
 * ours blocks no other signals. */
static void install_handler(void)
{
    struct kernel_action now = {0};
    struct kernel_action ours = {answer_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORE,
                                 trap_restorer, 0};
    raw_call(SYS_rt_sigaction, ASK_SIGNAL, 0, (long)&now, sizeof now.mask, 0, 0);
    if (now.handler == answer_signal)
        return;
    if ((uintptr_t)now.handler > (uintptr_t)SIG_IGN)
        __atomic_store_n(&state.other, now.handler, __ATOMIC_RELEASE);
    raw_call(SYS_rt_sigaction, ASK_SIGNAL, (long)&ours, 0, sizeof ours.mask, 0, 0);
}

/* Executions ------------------------------------------------------------------------------------------------ */

/* A signal that is pending when a thread executes a program is also pending in that program, and kills it. No
 * lock: a handler may execute one while its thread is here. */
static struct {
    uint32_t asking; /* the bursts' thread is sending a question, unless it sees that some are held */
    uint32_t held;   /* threads that are about to execute a program */
} gate;

static bool is_ours(void)
{
    return probe_works() && raw_pid() == core.pid;
}

void outside_hold(void)
{
    if (!is_ours())
        return;
    __atomic_fetch_add(&gate.held, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&gate.asking, __ATOMIC_SEQ_CST))
        raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    raw_pid(); /* signals sent before have been handled when this returns */
}

void outside_release(void)
{
    if (is_ours())
        __atomic_fetch_sub(&gate.held, 1, __ATOMIC_SEQ_CST);
}

void outside_fork_child(void)
{
    gate.asking = gate.held = 0;
}

/* Questions ------------------------------------------------------------------------------------------------- */

/* Asks a thread. false: it is gone. Does not ask during an execution. */
static bool ask_thread(struct thread_at *t)
{
    siginfo_t info;
    raw_fill(&info, 0, sizeof info);
    info.si_signo = ASK_SIGNAL;
    info.si_code = ASK_CODE;
    __atomic_store_n(&t->asked, ++state.round, __ATOMIC_RELEASE);
    info.si_value.sival_ptr =
        (void *)(uintptr_t)((uint64_t)state.round << 32 | (uint64_t)(t - state.threads));
    __atomic_store_n(&gate.asking, 1, __ATOMIC_SEQ_CST);
    bool held = __atomic_load_n(&gate.held, __ATOMIC_SEQ_CST);
    bool there =
        held || raw_call(SYS_rt_tgsigqueueinfo, raw_pid(), t->tid, ASK_SIGNAL, (long)&info, 0, 0) >= 0;
    __atomic_store_n(&gate.asking, 0, __ATOMIC_SEQ_CST);
    t->asked = held ? 0 : t->asked;
    return there;
}

/* Handlers ------------------------------------------------------------------------------------------------ */

static void find_restorers(void)
{
    bool handles = false;
    state.restorer_count = 0;
    for (int sig = 1; sig <= SIGNALS; sig++) {
        struct kernel_action a = {0};
        unsigned known = 0;
        if (raw_call(SYS_rt_sigaction, sig, 0, (long)&a, sizeof a.mask, 0, 0) < 0 || !a.restorer)
            continue;
        handles |= sig != SIGTRAP && sig != ASK_SIGNAL; /* the handlers of these are ours */
        uint64_t restorer = (uint64_t)(uintptr_t)a.restorer;
        while (known < state.restorer_count && state.restorers[known] != restorer)
            known++;
        if (known == state.restorer_count && known < RESTORERS)
            state.restorers[state.restorer_count++] = restorer;
    }
    if (!handles)
        state.restorer_count = 0;
}

static bool is_restorer(uint64_t word)
{
    for (unsigned i = 0; i < state.restorer_count; i++)
        if (word == state.restorers[i])
            return true;
    return false;
}

/* Copies memory, which its thread may unmap meanwhile; returns the number of bytes read. */
static size_t read_memory(uint64_t from, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)from, size};
    long r = raw_call(SYS_process_vm_readv, raw_pid(), (long)&local, 1, (long)&remote, 1, 0);
    return r < 0 ? 0 : (size_t)r;
}

/* The address of the innermost handler's ucontext on the stack from sp on; 0: none. */
static uint64_t find_handler(uint64_t sp)
{
    uint64_t words[512], at = (sp + 7) & ~7ull, start, end = core_stack_end(sp);
    if (!end && !vma_find(sp, &start, &end))
        return 0;
    if (end > at + STACK_MOST)
        end = at + STACK_MOST;
    while (at < end) {
        size_t wanted = end - at < sizeof words ? end - at : sizeof words;
        size_t count = read_memory(at, words, wanted) / sizeof *words;
        for (size_t i = 0; i < count; i++)
            if (is_restorer(words[i]))
                return at + (i + 1) * sizeof *words;
        if (count < sizeof words / sizeof *words)
            return 0;
        at += sizeof words;
    }
    return 0;
}

/* Whether a handler on this stack will return to the inside. */
static bool returns_inside(uint64_t sp)
{
    ucontext_t context;
    for (unsigned n = 0; n < HANDLERS && state.restorer_count; n++) {
        uint64_t found = find_handler(sp);
        if (!found || read_memory(found, &context, sizeof context) < sizeof context)
            return false;
        if (state.inside((uint64_t)context.uc_mcontext.gregs[REG_RIP]))
            return true;
        /* the interrupted stack: this one, or another below an alternate one */
        sp = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
    }
    return false;
}

/* Threads ------------------------------------------------------------------------------------------------- */

/* Reads the number that ends at text[*end], "0x55d0c0ffee"; sets *end to where the one before it ends. false:
 * none. */
static bool number_before(const char *text, long *end, uint64_t *out)
{
    uint64_t value = 0;
    long at = *end;
    while (at > 0 && text[at - 1] != 'x' && text[at - 1] != ' ')
        at--;
    if (at < 2 || text[at - 1] != 'x')
        return false;
    for (long i = at; i < *end; i++) {
        unsigned digit = (unsigned)text[i];
        value = value * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    *end = at - 3;
    *out = value;
    return true;
}

/* Reads "NUMBER ARGUMENTS... SP PC" of a waiting thread. false: it is running. */
static bool waits_at(uint32_t tid, uint64_t *pc, uint64_t *sp)
{
    char path[64], text[256];
    size_t end = raw_append(path, sizeof path, 0, "/proc/self/task/");
    end = raw_append_number(path, sizeof path, end, tid);
    raw_append(path, sizeof path, end, "/syscall");
    int fd = raw_open(path, O_RDONLY);
    long size = fd < 0 ? 0 : raw_read(fd, text, sizeof text);
    if (fd >= 0)
        raw_close(fd);
    if (size <= 0)
        return false;
    size -= text[size - 1] == '\n';
    return number_before(text, &size, pc) && number_before(text, &size, sp);
}

/* Checks a thread again; a running one is asked, unless it has answered. */
static void check_thread(struct thread_at *t)
{
    uint64_t pc, sp;
    bool answered = t->asked && __atomic_load_n(&t->answered, __ATOMIC_ACQUIRE) == t->asked;
    if (answered) {
        pc = t->pc;
        sp = t->sp;
        t->asked = 0;
    } else if (!waits_at(t->tid, &pc, &sp)) {
        t->outside = !t->asked && !ask_thread(t);
        return;
    }
    t->outside = !state.inside(pc) && !returns_inside(sp);
}

struct entry { /* struct linux_dirent64 */
    uint64_t inode, next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* false: there are too many. */
static bool list_threads(void)
{
    char buffer[4096] __attribute__((aligned(8)));
    uint32_t own = raw_tid();
    long size = 0;
    int fd = raw_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    state.count = 0;
    while (fd >= 0 && (size = raw_call(SYS_getdents64, fd, (long)buffer, sizeof buffer, 0, 0, 0)) > 0) {
        for (long at = 0; at < size;) {
            const struct entry *e = (const struct entry *)(buffer + at);
            uint32_t tid = 0;
            for (const char *c = e->name; *c >= '0' && *c <= '9'; c++)
                tid = tid * 10 + (uint32_t)(*c - '0');
            if (tid && tid != own && state.count < THREADS_MOST)
                state.threads[state.count++] = (struct thread_at){.tid = tid};
            at += e->size;
        }
    }
    if (fd >= 0)
        raw_close(fd);
    return fd >= 0 && size == 0 && state.count < THREADS_MOST;
}

/* Checks the threads that were not outside yet; returns their number. */
static uint32_t check_threads(void)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < state.count; i++) {
        if (!state.threads[i].outside)
            check_thread(&state.threads[i]);
        left += !state.threads[i].outside;
    }
    return left;
}

bool outside_all(bool (*inside)(uint64_t pc))
{
    uint64_t end = raw_now_ns() + PATIENCE_NS;
    state.inside = inside;
    install_handler();
    find_restorers();
    if (!list_threads())
        return false;
    for (;;) {
        uint32_t before = __atomic_load_n(&state.wake, __ATOMIC_ACQUIRE);
        struct timespec step = {0, STEP_NS};
        if (!check_threads())
            return true;
        if (raw_now_ns() >= end)
            return false;
        raw_call(SYS_futex, (long)&state.wake, FUTEX_WAIT_PRIVATE, before, (long)&step, 0, 0);
    }
}
