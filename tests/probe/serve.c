/*
 * serve.c - runs a command under the probe runtime and tells what the runtime did to it.
 *
 *     serve [-b] [-f FAULT] -o FILE LIBRARY COMMAND ARGUMENT...
 *
 *     -b  plans of breakpoints alone
 *     -f  refused: "failed" for an answer; damaged: plans with a bad byte; other: the plan of another file;
 *         lost: plans that are not there; no-exec, no-write: a seccomp filter that refuses new executable
 *         memory, and memory that is writable and executable; ended: the session has, at the first question;
 *         died: no answers, and the kernel tells that the server has died; lock: the lock is held by a
 *         process that has died
 *
 * FILE gets a line "image NAME sleds detours pads breakpoints failed: REASON" for each image of each process
 * and "calls NAME COUNT" for each function of the command's own files (no library of the system) that was
 * entered, as sums over all processes. The exit status is the command's; 128 + N when signal N ended it.
 */
#include <fcntl.h>
#include <glob.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pathmap/train/plan.h"
#include "pathmap/wire/mail.h"
#include "pathmap/wire/store.h"
#include "tests/probe/refuse.h"

#define PLANS 256

static struct {
    bool breakpoints;
    const char *fault, *out, *library;
    char directory[64];
    struct mail *mail;
    char paths[PLANS][4097]; /* plan-N is of paths[N] */
    unsigned plans;
} self = {.fault = ""};

static void stop(const char *what)
{
    perror(what);
    exit(99);
}

static bool fault(const char *name)
{
    return strcmp(self.fault, name) == 0;
}

/* Plans -------------------------------------------------------------------------------------------------- */

static void write_plan(unsigned number, uint8_t *data, size_t size)
{
    char name[128];
    snprintf(name, sizeof name, "%s/plan-%u", self.directory, number);
    if (fault("damaged"))
        data[size / 2] ^= 0xff, data[8] ^= 1;
    if (fault("lost"))
        return;
    FILE *f = fopen(name, "w");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        stop(name);
}

static bool make_plan(const char *path)
{
    struct image *image;
    struct fathom_error err;
    struct plan_options options = {.breakpoints_only = self.breakpoints};
    void *data;
    size_t size;
    if (self.plans == PLANS || image_open(fault("other") ? "/bin/ls" : path, NULL, &image, &err) < 0)
        return false;
    if (plan_build(image, &options, &data, &size, NULL, &err) < 0)
        return false;
    strcpy(self.paths[self.plans], path);
    write_plan(self.plans++, data, size);
    free(data);
    image_close(image);
    return true;
}

static void answer(struct mail *mail)
{
    char path[4097];
    memcpy(path, mail->path, 4096);
    path[4096] = 0;
    unsigned i = 0;
    while (i < self.plans && strcmp(self.paths[i], path) != 0)
        i++;
    mail->status = MAIL_FAILED;
    strcpy(mail->reason, "the test says so");
    if (strstr(path, "/libc.so"))
        mail->status = MAIL_LEAVE;
    else if (!fault("refused") && (i < self.plans || make_plan(path)))
        mail->status = MAIL_PLAN;
    snprintf(mail->plan, sizeof mail->plan, "plan-%u", i);
}

/* The command -------------------------------------------------------------------------------------------- */

static pid_t run(char **command)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    setenv("FATHOM_PROBE", self.directory, 1);
    setenv("LD_PRELOAD", self.library, 1);
    if (fault("no-write"))
        refuse_protection(PROT_WRITE | PROT_EXEC);
    if (fault("no-exec"))
        refuse_protection(PROT_EXEC);
    execvp(command[0], command);
    _exit(127);
}

static int serve(pid_t pid)
{
    struct mail *mail = self.mail;
    int status;
    while (waitpid(pid, &status, WNOHANG) != pid) {
        uint32_t asked = __atomic_load_n(&mail->request_seq, __ATOMIC_ACQUIRE);
        if (asked == mail->reply_seq) {
            struct timespec t = {0, 10000000};
            syscall(SYS_futex, &mail->request_seq, FUTEX_WAIT, asked, &t, NULL, 0);
            continue;
        }
        if (fault("ended"))
            __atomic_store_n(&mail->magic, 0, __ATOMIC_RELEASE);
        if (fault("died"))
            __atomic_store_n(&mail->trainer, FUTEX_OWNER_DIED, __ATOMIC_RELEASE);
        if (fault("ended") || fault("died")) {
            usleep(1000);
            continue;
        }
        answer(mail);
        __atomic_store_n(&mail->reply_seq, asked, __ATOMIC_RELEASE);
        syscall(SYS_futex, &mail->reply_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t dead_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static void open_session(void)
{
    char name[128];
    const char *tmp = getenv("TMPDIR");
    snprintf(self.directory, sizeof self.directory, "%s/serve-XXXXXX",
             tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(self.directory))
        stop(self.directory);
    snprintf(name, sizeof name, "%s/" MAIL_NAME, self.directory);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, MAIL_SIZE))
        stop(name);
    self.mail = mmap(NULL, MAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (self.mail == MAP_FAILED)
        stop(name);
    self.mail->magic = MAIL_MAGIC;
    self.mail->trainer = (uint32_t)getpid();
    self.mail->filters = 1; /* ours, as a container's */
    self.mail->lock = (uint32_t)(fault("lock") ? dead_process() : 0);
    close(fd);
}

/* What was recorded -------------------------------------------------------------------------------------- */

struct calls {
    char *path; /* of the image */
    uint64_t vaddr, count;
};

struct tally {
    struct calls *all;
    size_t count;
};

static void add_calls(struct tally *tally, const char *path, uint64_t vaddr, uint64_t count)
{
    for (size_t i = 0; i < tally->count; i++)
        if (tally->all[i].vaddr == vaddr && strcmp(tally->all[i].path, path) == 0) {
            tally->all[i].count += count;
            return;
        }
    tally->all = realloc(tally->all, (tally->count + 1) * sizeof *tally->all);
    if (!tally->all)
        stop("realloc");
    tally->all[tally->count++] = (struct calls){strdup(path), vaddr, count};
}

static void read_store(const char *name, FILE *out, struct tally *tally)
{
    struct stat s;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s))
        stop(name);
    const uint8_t *data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        stop(name);
    const struct store_header *h = (const void *)data;
    const struct store_image *images = (const void *)(data + STORE_IMAGES_AT);
    const struct store_function *functions = (const void *)(data + STORE_FUNCTIONS_AT);
    for (uint32_t i = 0; i < h->image_count; i++) {
        const struct store_summary *y = &images[i].summary;
        const char *slash = strrchr(images[i].path, '/');
        fprintf(out, "image %s %u %u %u %u %u: %s\n", slash ? slash + 1 : images[i].path, y->sleds,
                y->detours, y->pads, y->breakpoints, y->failed, y->reason);
    }
    uint64_t end = ((uint64_t)s.st_size - STORE_NODES_AT) / sizeof(struct store_node);
    uint64_t last = (uint64_t)h->chunk_count * STORE_CHUNK_NODES;
    const struct store_node *nodes = (const void *)(data + STORE_NODES_AT);
    for (uint64_t i = (uint64_t)h->chunk_first * STORE_CHUNK_NODES; i < last && i < end; i++) {
        uint32_t f = nodes[i].function;
        if (f == 0 || f >= h->function_count || functions[f].image >= h->image_count)
            continue;
        const char *path = images[functions[f].image].path;
        if (store_count(&nodes[i]) && strncmp(path, "/usr/", 5) != 0 && strncmp(path, "/lib", 4) != 0)
            add_calls(tally, path, functions[f].vaddr, store_count(&nodes[i]));
    }
    munmap((void *)data, (size_t)s.st_size);
}

static void print_calls(const struct calls *calls, FILE *out)
{
    struct image *image;
    struct fathom_error err;
    char name[512];
    if (image_open(calls->path, NULL, &image, &err) < 0)
        return;
    uint32_t f = image_function_at(image, calls->vaddr);
    if (f != IMAGE_NO_FUNCTION && image_function_format(image, f, name, sizeof name) >= 0)
        fprintf(out, "calls %s %llu\n", name, (unsigned long long)calls->count);
    image_close(image);
}

static void close_session(void)
{
    char pattern[128];
    glob_t found = {0};
    struct tally tally = {0};
    FILE *out = fopen(self.out, "w");
    if (!out)
        stop(self.out);
    snprintf(pattern, sizeof pattern, "%s/*", self.directory);
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], "/" STORE_PREFIX))
            read_store(found.gl_pathv[i], out, &tally);
        unlink(found.gl_pathv[i]);
    }
    rmdir(self.directory);
    for (size_t i = 0; i < tally.count; i++) {
        print_calls(&tally.all[i], out);
        free(tally.all[i].path);
    }
    free(tally.all);
    globfree(&found);
    if (fclose(out))
        stop(self.out);
}

int main(int count, char **arguments)
{
    int c;
    while ((c = getopt(count, arguments, "+bf:o:")) != -1) {
        if (c == 'b')
            self.breakpoints = true;
        else if (c == 'f')
            self.fault = optarg;
        else if (c == 'o')
            self.out = optarg;
        else
            return 99;
    }
    if (!self.out || optind + 2 > count)
        return 99;
    self.library = arguments[optind];
    open_session();
    int status = serve(run(arguments + optind + 1));
    close_session();
    return status;
}
